import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { writeSorted } from "./payload.rules.ts";
import { readEnvelope, writeEnvelope } from "./envelope.rules.ts";
import { sanitize } from "./sanitize.rules.ts";

const word = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom(
    "token",
    "url",
    "runIds",
    "http://x",
    "Bearer x",
    "a=b",
    "session=1",
    "\ud800",
    "\0",
    "\uffff",
    "\u{10000}",
  ),
);
const forbidden = ["__proto__", "prototype", "constructor"];
const key = word.filter((text) => !forbidden.includes(text));
const { payload } = fc.letrec<{ value: unknown; payload: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    word,
    fc.constantFrom(null, true, false),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.integer(),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("payload"),
  ),
  payload: fc.dictionary(key, tie("value"), { maxKeys: 5 }),
}));

test("keys are sorted by their code points", () => {
  const shown = fc.property(fc.uniqueArray(fc.string({ unit: "binary" })), (keys) => {
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const members = sorted.map((one) => `${JSON.stringify(one)}:1`);
    expect(writeSorted(Object.fromEntries(keys.map((one) => [one, 1])))).toBe(`{${members.join(",")}}`);
  });
  fc.assert(shown, { examples: [[["\uffff", "\u{10000}", "\ud7ff", "\ue000", "a", "ab", "a\u{10ffff}", ""]]] });
});

test("export, then import of any payload yields the sanitized payload", () => {
  const shown = fc.property(payload, (sent) => {
    const text = JSON.stringify(sent);
    const imported = readEnvelope(Buffer.from(writeEnvelope({ name: "n", project: null, payload: text }, "t")));
    expect(JSON.parse(imported.payload)).toEqual(JSON.parse(JSON.stringify(sanitize(JSON.parse(text) as never).value)));
    expect(imported.warnings).toEqual([]);
  });
  fc.assert(shown, { numRuns: 500 });
});

test("to sanitize twice is to sanitize once", () => {
  const shown = fc.property(payload, (sent) => {
    const once = sanitize(sent as never).value;
    expect(sanitize(once)).toEqual({ value: once, warnings: [] });
  });
  fc.assert(shown, { numRuns: 500 });
});

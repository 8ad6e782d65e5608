import { describe, expect, test } from "@jest/globals";
import { checksumOf, hasChecksum, writeSorted } from "./payload.rules.ts";
import { readEnvelope, writeEnvelope } from "./envelope.rules.ts";

const utf8 = new TextEncoder();
const rawNumber = (digits: string) =>
  (JSON as unknown as { rawJSON(text: string): { rawJSON: string } }).rawJSON(digits);

const envelope = (payload: unknown, more: object = {}) => ({
  kind: "instantml.workspace_view",
  schema_version: 1,
  exported_at: "2026-01-02T03:04:05Z",
  source: { product: "instantml", format: "workspace_view" },
  view: { name: "Daily", project: null, payload },
  integrity: { payload_sha256: checksumOf(payload as never) },
  ...more,
});
const read = (value: unknown) => readEnvelope(utf8.encode(typeof value === "string" ? value : JSON.stringify(value)));

describe("the JSON of which the checksum is taken", () => {
  test("is compact and has its keys in the order of code points at every level", () => {
    // The first key is one unit of UTF-16 above the surrogates, the second one a pair of them.
    const value = { "\uffff": 1, "\u{10000}": 2, b: [{ d: 1, c: "é\n\u0001\u2028" }], a: null };
    expect(writeSorted(value)).toBe('{"a":null,"b":[{"c":"é\\n\\u0001\u2028","d":1}],"\uffff":1,"\u{10000}":2}');
  });

  test("has the digits that were sent", () => {
    expect(writeSorted([rawNumber("1.0"), rawNumber("12345678901234567890"), -0, 1e21])).toBe(
      "[1.0,12345678901234567890,0,1e+21]",
    );
  });

  test("has a known checksum", () => {
    expect(checksumOf({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });

  test("has the same checksum for a program that writes doubles in their shortest form", () => {
    const sent = { a: rawNumber("1.0"), b: rawNumber("12345678901234567890") };
    const rewritten = { a: 1, b: rawNumber("12345678901234567890") };
    expect(hasChecksum(sent, checksumOf(sent).toUpperCase())).toBe(true);
    expect(hasChecksum(sent, checksumOf(rewritten))).toBe(true);
    expect(hasChecksum(rewritten, checksumOf(sent))).toBe(false);
  });
});

describe("a file", () => {
  test("is written as the contract shows it, with a sanitized payload", () => {
    const payload = '{"b":1.0,"a":{"token":"x"},"url":"y"}';
    const written = writeEnvelope({ name: "Daily", project: "p", payload }, "2026-01-02T03:04:05.678Z");
    const clean = '{"a":{},"b":1.0}';
    expect(written).toBe(
      '{"kind":"instantml.workspace_view","schema_version":1,"exported_at":"2026-01-02T03:04:05.678Z",' +
        '"source":{"product":"tidemark","format":"workspace_view"},' +
        `"view":{"name":"Daily","project":"p","payload":${clean}},` +
        `"integrity":{"payload_sha256":"${checksumOf({ a: {}, b: rawNumber("1.0") })}"}}`,
    );
    expect(readEnvelope(utf8.encode(written))).toEqual({ name: "Daily", project: "p", payload: clean, warnings: [] });
  });

  test("of the other product is read; its checksum is that of what was sent, and then it is sanitized", () => {
    const { payload, warnings } = read(envelope({ kept: 1, apiKey: "x" }));
    expect([payload, warnings.length]).toEqual(['{"kept":1}', 1]);
  });

  test.each<[string, unknown, RegExp]>([
    ["no object", "[]", /must be an object/],
    ["another kind", envelope({}, { kind: "x" }), /kind must be/],
    ["another version", envelope({}, { schema_version: 2 }), /schema_version must be 1/],
    ["a version that is a text", envelope({}, { schema_version: "1" }), /schema_version must be 1/],
    ["another product", envelope({}, { source: { product: "x" } }), /source.product must be/],
    ["no source", envelope({}, { source: null }), /source must be an object/],
    ["no view", envelope({}, { view: 1 }), /view must be an object/],
    ["a payload that is a list", envelope([]), /view.payload must be an object/],
    ["no checksum", envelope({}, { integrity: {} }), /not the checksum/],
    ["another checksum", envelope({}, { integrity: { payload_sha256: checksumOf([]) } }), /not the checksum/],
    ["no name", envelope({}, { view: { payload: {} } }), /must not be empty/],
    ["a name that is a number", envelope({}, { view: { name: 1, payload: {} } }), /view.name must be a text/],
    [
      "a project of 513 bytes",
      envelope({}, { view: { name: "n", project: "p".repeat(513), payload: {} } }),
      /512 bytes/,
    ],
    ["a key that reaches prototypes", envelope({ a: [{ prototype: 1 }] }), /the key prototype is not allowed/],
    ["65 levels", envelope({ a: JSON.parse("[".repeat(64) + "]".repeat(64)) as unknown }), /nested 64 levels/],
    ["a payload above 64 KiB", envelope({ a: "x".repeat(65_536) }), /at most 65536 bytes/],
  ])("is refused with %s", (_, value, fault) => {
    expect(() => read(value)).toThrow(
      expect.objectContaining({ reason: "bad_request", message: expect.stringMatching(fault) }),
    );
  });

  test("has a payload of at most 64 KiB after what is removed", () => {
    const kept = "x".repeat(65_536 - '{"a":""}'.length);
    expect(read(envelope({ a: kept, token: "y".repeat(1000) })).payload).toHaveLength(65_536);
    expect(() => read(envelope({ a: `${kept}x` }))).toThrow(/at most 65536 bytes/);
  });
});

import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isExactNumber, nonFiniteOf } from "@tidemark/values";
import {
  BODY_DEPTH_MAX,
  parseJsonObject,
  parseJsonObjectInTurns,
  parseOwnJsonInTurns,
  type ExactNumbers,
} from "./json-body.ts";

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const json = JSON as unknown as { parse(text: string, reviver: Reviver): unknown; rawJSON(text: string): object };

/** A reader that keeps every digit, slowly. */
function revived(text: string, exactNumbers: ExactNumbers): string {
  const keeps = (value: number, source: string): boolean =>
    Number.isFinite(value) &&
    source !== String(value) &&
    (exactNumbers === "every digit" || (/^-?\d+$/.test(source) && !Number.isSafeInteger(value)));
  return JSON.stringify(
    json.parse(text, (_key, value, { source }) =>
      typeof value === "number" && source !== undefined && keeps(value, source) ? json.rawJSON(source) : value,
    ),
  );
}

const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 24 }).map((all) => all.join(""));
const numbers = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(
      digits.map((text) => text.replace(/^0+(?=\d)/, "")),
      fc.constant("0"),
    ),
    fc.oneof(
      fc.constant(""),
      digits.map((text) => `.${text}`),
    ),
    fc.constantFrom("", "", "e5", "E-7", "e+3", "e-300"),
  )
  .map((parts) => parts.join(""));
const keys = fc.oneof(fc.string(), digits);
const values: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    numbers,
    fc.string().map((text) => JSON.stringify(text)),
    digits.map((text) => `"${text}"`),
    fc.array(tie("value"), { maxLength: 5 }).map((items) => `[${items.join(" , ")}]`),
    fc
      .array(fc.tuple(keys, tie("value")), { maxLength: 5 })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`),
  ),
})).value;

describe.each<[string, ExactNumbers]>([
  ["integers beyond 2^53", true],
  ["every digit", "every digit"],
])("%s", (_, exactNumbers) => {
  test("is kept as a reviver keeps it, whole and in turns", async () => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const text = `{"a":${value},"b":[1,${value}]}`;
        fc.pre(!text.includes("__proto__"));
        const expected = revived(text, exactNumbers);
        expect(JSON.stringify(parseJsonObject(Buffer.from(text), exactNumbers))).toBe(expected);
        expect(JSON.stringify(await parseJsonObjectInTurns(Buffer.from(text), exactNumbers))).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    "{12345678901234567890:1}",
    '{"a":012345678901234567}',
    '{"a":+12345678901234567}',
    '{"a":12345678901234567 1}',
    '{"a":--12345678901234567}',
    '{"a":12345678901234567.}',
  ])("%s is not JSON", (text) => {
    expect(() => parseJsonObject(Buffer.from(text), exactNumbers)).toThrow("the body is not valid JSON");
  });

  test("nesting that is too deep is refused with a long integer inside", () => {
    const text = `{"a":${"[".repeat(100_000)}12345678901234567890${"]".repeat(100_000)}}`;
    expect(() => parseJsonObject(Buffer.from(text), exactNumbers)).toThrow("nested deeper than 64 levels");
  });
});

describe("bare tokens", () => {
  const TOKENS = ["NaN", "Infinity", "-Infinity"];
  /** A list with tokens, and the same with their texts. */
  const anyValues = fc
    .array(fc.oneof(fc.constantFrom(...TOKENS), values, fc.constantFrom('"NaN"', '"x\\\\"', '"\\"Infinity"')), {
      maxLength: 8,
    })
    .map((items) => ({
      sent: `[${items.join(", ")}]`,
      read: `[${items.map((item) => (TOKENS.includes(item) ? `"${item}"` : item)).join(",")}]`,
    }));
  /** Replaces the tokens of a body by their texts. */
  const withTexts = (value: unknown): unknown => {
    if (typeof value === "symbol") return String(nonFiniteOf(value));
    if (Array.isArray(value)) return value.map(withTexts);
    if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withTexts(part)]));
  };

  test.each<[string, ExactNumbers]>([
    ["plain numbers", false],
    ["integers beyond 2^53", true],
    ["every digit", "every digit"],
  ])("are values where they may be, with %s, whole and in turns", async (_, exactNumbers) => {
    await fc.assert(
      fc.asyncProperty(anyValues, fc.boolean(), async ({ sent, read }, isLong) => {
        const filler = isLong ? `"z":[${Array(9_000).fill("1").join(",")}],` : "";
        const text = `{${filler}"a":${sent},"b":{"c":${sent}}}`;
        fc.pre(!text.includes("__proto__"));
        const wanted = parseJsonObject(Buffer.from(`{${filler}"a":${read},"b":{"c":${read}}}`), exactNumbers);
        const bytes = Buffer.from(text);
        for (const found of [
          parseJsonObject(bytes, exactNumbers, true),
          await parseJsonObjectInTurns(bytes, exactNumbers, { bareTokens: true }),
        ])
          expect(JSON.stringify(withTexts(found))).toBe(JSON.stringify(wanted));
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    "{NaN:1}",
    '{"a":-NaN}',
    '{"a":+Infinity}',
    '{"a":- Infinity}',
    '{"a":--Infinity}',
    '{"a":1-Infinity}',
    '{"a":NaN1}',
    '{"a":1NaN}',
    '{"a":NaNNaN}',
    '{"a":nan}',
    '{"a":infinity}',
    '{"a":Infinit}',
    '{"a":NaN',
  ])("%s is still not JSON", async (text) => {
    for (const exactNumbers of [false, true]) {
      expect(() => parseJsonObject(Buffer.from(text), exactNumbers, true)).toThrow("the body is not valid JSON");
      const inTurns = parseJsonObjectInTurns(Buffer.from(text), exactNumbers, { bareTokens: true });
      await expect(inTurns).rejects.toThrow("the body is not valid JSON");
    }
  });

  test("are no JSON where they may not be, and 1e999 is none of them", () => {
    expect(() => parseJsonObject(Buffer.from('{"a":NaN}'), false)).toThrow("the body is not valid JSON");
    expect(parseJsonObject(Buffer.from('{"a":1e999,"b":NaN}'), false, true)).toMatchObject({ a: Infinity });
    expect(nonFiniteOf(Infinity)).toBeUndefined();
  });
});

const large = (text: string): string => `{"z":[${Array(20_000).fill("1").join(",")}],${text}}`;

test.each([
  ["no JSON", large('"a":'), "the body is not valid JSON"],
  ["a list", `[${large('"a":1')}]`, "the body must be a JSON object"],
  [
    "too deep",
    large(`"a":${"[".repeat(BODY_DEPTH_MAX)}1,2${"]".repeat(BODY_DEPTH_MAX)}`),
    "the body is nested deeper than 64 levels",
  ],
  [
    "a bomb of brackets",
    large(`"a":${"[".repeat(100_000)}${"]".repeat(100_000)}`),
    "the body is nested deeper than 64 levels",
  ],
  ["__proto__", large('"a":{"__proto__":{}}'), "the key __proto__ is not allowed"],
  ["a large __proto__", large(`"__proto__":[${"1,".repeat(20_000)}1]`), "the key __proto__ is not allowed"],
  ["a prototype of a constructor", large('"constructor":{"prototype":{}}'), "the key constructor is not allowed"],
  [
    "a large prototype of a constructor",
    large(`"constructor":{"a":[${"1,".repeat(20_000)}1],"prototype":{}}`),
    "the key constructor is not allowed",
  ],
  [
    "invalid UTF-8",
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    "the body is not valid UTF-8",
  ],
])("refused when read in turns as when read in one go: %s", async (_, text, message) => {
  const bytes = Buffer.from(text as string);
  expect(() => parseJsonObject(bytes, true)).toThrow(message);
  await expect(parseJsonObjectInTurns(bytes, true)).rejects.toThrow(message);
});

test.each([
  [
    "objects and lists",
    (count: number) =>
      `{"a":[${Array(count - 2)
        .fill("{}")
        .join(",")}]}`,
    100_000,
  ],
  [
    "keys of an object",
    (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}k":0`).join(",")}}`,
    50_000,
  ],
])("large bodies have bounded %s", async (_, text, most) => {
  await parseJsonObjectInTurns(Buffer.from(text(most)), true);
  const beyond = parseJsonObjectInTurns(Buffer.from(text(most + 1)), true);
  await expect(beyond).rejects.toMatchObject({ reason: "bad_request" });
});

test("others have turns while a large body is parsed", async () => {
  const bytes = Buffer.from(
    `{"a":[${Array(99_000)
      .fill(`{"k":"${"x".repeat(40)}"}`)
      .join(",")}]}`,
  );
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await parseJsonObjectInTurns(bytes, true);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

test("JSON of our own is parsed in turns without bounds on its content", async () => {
  const value = {
    runs: Array.from({ length: 150_000 }, (_, id) => ({ id })),
    texts: ["é".repeat(100_000)],
    __proto__x: 1,
  };
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  expect(await parseOwnJsonInTurns(Buffer.from(JSON.stringify(value)))).toEqual(value);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(1);
  await expect(parseOwnJsonInTurns(Buffer.from("[1,"))).rejects.toThrow(SyntaxError);
});

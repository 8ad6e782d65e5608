import { describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { parseExact, parseJsonObject } from "@tidemark/documents";
import { freeObject, writeDocument } from "./document.ts";
import { boolean, list, optional, readField, required, withDefault, withFault } from "./field.ts";
import { instantMicros, parseInstantText, parseMicros } from "./instant.ts";
import { integer, limit, number, offset, queryFlag, queryNumber, step } from "./number.ts";
import { canonicalUuid, maybeBlankText, text, textOrAbsent, uuid, word } from "./text.ts";

const someUuid = "0a1b2c3d-0000-4000-8000-00000000abcd";
const anything = required<unknown>({}, (value) => value);

function refusal(read: () => unknown): { reason: string; text: string; field: string | undefined } {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError) return { reason: error.reason, text: error.message, field: error.field };
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("values that are read", () => {
  test.each<[string, unknown, unknown]>([
    ["a text is trimmed", readField(text(), { name: " run 1\n" }, "name"), "run 1"],
    ["512 bytes of UTF-8 are the most", readField(text(), { name: "é".repeat(256) }, "name"), "é".repeat(256)],
    ["null is absent", readField(optional(text()), { name: null }, "name"), undefined],
    ["a blank text may be absent", readField(textOrAbsent(), { name: "  " }, "name"), undefined],
    ["a blank text may be the empty text", readField(optional(maybeBlankText()), { notes: " " }, "notes"), ""],
    ["an inherited property is absent", readField(optional(text()), {}, "constructor"), undefined],
    [
      "tags keep order and duplicates",
      readField(optional(list(text())), { tags: ["b", " a", "b"] }, "tags"),
      ["b", "a", "b"],
    ],
    ["an empty list is a list", readField(optional(list(anything)), { x: [] }, "x"), []],
    ["a UUID becomes lower case", readField(uuid(), { id: someUuid.toUpperCase() }, "id"), someUuid],
    ["a list of UUIDs", readField(optional(list(uuid())), { ids: [someUuid] }, "ids"), [someUuid]],
    ["a step may have a fraction", readField(step(), { step: 1.5 }, "step"), 1.5],
    ["minus zero is zero", Object.is(readField(step(), { step: -0 }, "step"), 0), true],
    [
      "an integer with kept digits is a number",
      readField(number(), { n: parseExact("9007199254740992") }, "n"),
      2 ** 53,
    ],
    ["an integer may be written with a zero fraction", readField(integer(), { n: 3.0 }, "n"), 3],
    ["false is present", readField(optional(boolean()), { on: false }, "on"), false],
    ["an enum word", readField(optional(word(["create", "auto"])), { mode: "auto" }, "mode"), "auto"],
    ["no document is an empty one", readField(withDefault(freeObject(), "{}"), { config: null }, "config"), "{}"],
    [
      "a document keeps order and digits",
      readField(withDefault(freeObject(), "{}"), { c: { b: 1, a: [parseExact("12345678901234567890"), null] } }, "c"),
      '{"b":1,"a":[12345678901234567890,null]}',
    ],
    ["a blank limit is the default", readField(limit({ default: 100, max: 1000 }), { limit: " " }, "limit"), 100],
    ["the largest limit", readField(limit({ default: 100, max: 1000 }), { limit: "1000" }, "limit"), 1000],
    ["no offset is 0", readField(offset(), {}, "offset"), 0],
    ["a query number", readField(queryNumber(), { start_step: "-1.5e3" }, "start_step"), -1500],
    [
      "only true is true",
      ["true", "TRUE", "1"].map((on) => readField(queryFlag(), { on }, "on")),
      [true, false, false],
    ],
  ])("%s", (_, actual, expected) => expect(actual).toEqual(expected));
});

describe("values that are refused with a text and the field", () => {
  test.each<[string, () => unknown, string, string]>([
    ["a missing text", () => readField(text(), {}, "name"), "name is required", "name"],
    ["a number for a text", () => readField(text(), { name: 1 }, "name"), "name must be a text", "name"],
    ["a blank text", () => readField(optional(text()), { name: " " }, "name"), "name must not be empty", "name"],
    [
      "513 bytes",
      () => readField(text(), { name: `${"é".repeat(256)}x` }, "name"),
      "name must have at most 512 bytes",
      "name",
    ],
    ["NUL", () => readField(text(), { name: "a\0b" }, "name"), "name must not contain NUL or lone surrogates", "name"],
    [
      "a lone surrogate",
      () => readField(text(), { name: "\uD800" }, "name"),
      "name must not contain NUL or lone surrogates",
      "name",
    ],
    [
      "a tag that is not a text",
      () => readField(optional(list(text())), { tags: ["a", null] }, "tags"),
      "tags item must be a text",
      "tags",
    ],
    [
      "tags that are not a list",
      () => readField(optional(list(text())), { tags: "a" }, "tags"),
      "tags must be a list",
      "tags",
    ],
    [
      "a list that is too long",
      () => readField(optional(list(anything, { itemsMin: 1, itemsMax: 1 })), { x: [1, 2] }, "x"),
      "x must have 1 to 1 items",
      "x",
    ],
    [
      "a UUID without hyphens",
      () => readField(uuid(), { id: someUuid.replaceAll("-", "") }, "id"),
      "id must be a UUID",
      "id",
    ],
    ["no UUID", () => readField(uuid(), {}, "id"), "id is required", "id"],
    [
      "a negative step",
      () => readField(step(), { step: -1 }, "step"),
      "step must be a finite number of at least 0",
      "step",
    ],
    [
      "an overflown number",
      () => readField(number(), { n: Number.POSITIVE_INFINITY }, "n"),
      "n must be a finite number",
      "n",
    ],
    [
      "kept digits beyond double range",
      () => readField(number(), { n: parseExact(`1${"0".repeat(400)}`) }, "n"),
      "n must be a finite number",
      "n",
    ],
    [
      "a fraction for an integer",
      () => readField(integer({ min: 1, max: 9 }), { n: 1.5 }, "n"),
      "n must be a whole number from 1 to 9",
      "n",
    ],
    ["an integer beyond 2^53", () => readField(integer(), { n: 2 ** 53 }, "n"), "n must be a whole number", "n"],
    ["true as a text", () => readField(optional(boolean()), { on: "true" }, "on"), "on must be true or false", "on"],
    ["an unknown word", () => readField(optional(word(["a", "b"])), { m: "x" }, "m"), "m must be one of a, b", "m"],
    ["a missing word", () => readField(word(["a", "b"]), {}, "m"), "m is required: one of a, b", "m"],
    [
      "a list as a document",
      () => readField(withDefault(freeObject(), "{}"), { c: [] }, "c"),
      "c must be an object",
      "c",
    ],
    [
      "a number out of range deep in a document",
      () => readField(withDefault(freeObject(), "{}"), { c: { a: [{ b: Number.NEGATIVE_INFINITY }] } }, "c"),
      "c contains a number out of range",
      "c",
    ],
    [
      "NUL in a document",
      () => readField(withDefault(freeObject(), "{}"), { c: { a: "\0" } }, "c"),
      "c must not contain NUL or lone surrogates",
      "c",
    ],
    [
      "NUL in a key of a document, even when values are mended",
      () => readField(withDefault(freeObject({ unstorable: "replace" }), "{}"), { c: { "a\0": 1 } }, "c"),
      "c has a key with NUL or a lone surrogate",
      "c",
    ],
    [
      "a document that is too long",
      () => readField(withDefault(freeObject({ bytesMax: 9 }), "{}"), { c: { a: "éé" } }, "c"),
      "c must have at most 9 bytes",
      "c",
    ],
    [
      "a limit of 0",
      () => readField(limit({ default: 1, max: 5 }), { limit: "0" }, "limit"),
      "limit must be a whole number from 1 to 5",
      "limit",
    ],
    [
      "a limit with a fraction",
      () => readField(limit({ default: 1, max: 5 }), { limit: "2.0" }, "limit"),
      "limit must be a whole number from 1 to 5",
      "limit",
    ],
    [
      "a limit in hexadecimal",
      () => readField(limit({ default: 1, max: 5 }), { limit: "0x2" }, "limit"),
      "limit must be a whole number from 1 to 5",
      "limit",
    ],
    [
      "a negative offset",
      () => readField(offset(), { offset: "-1" }, "offset"),
      `offset must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`,
      "offset",
    ],
    [
      "a query number out of range",
      () => readField(queryNumber(), { s: "1e400" }, "s"),
      "s must be a finite number",
      "s",
    ],
    [
      "a time without a zone",
      () => readField(optional(instantMicros), { t: "2026-01-02T03:04:05" }, "t"),
      "t must be an RFC 3339 time with a zone",
      "t",
    ],
  ])("%s", (_, read, text, field) => expect(refusal(read)).toEqual({ reason: "bad_request", text, field }));
});

describe("instants", () => {
  test.each([
    ["microseconds survive", "2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678901Z", 1767323045678901],
    ["an offset becomes UTC", "2026-01-02T03:04:05.5+05:30", "2026-01-01T21:34:05.5Z", 1767303245500000],
    ["a negative offset becomes UTC", "2026-01-02T23:00:00-02:00", "2026-01-03T01:00:00Z", 1767402000000000],
    ["trailing zeros are dropped", "2026-01-02T03:04:05.120000Z", "2026-01-02T03:04:05.12Z", 1767323045120000],
    ["nanoseconds are cut", "2026-01-02T03:04:05.123456999Z", "2026-01-02T03:04:05.123456Z", 1767323045123456],
    ["small letters and a blank are allowed", "2026-01-02 03:04:05z", "2026-01-02T03:04:05Z", 1767323045000000],
    ["before 1970", "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z", -1],
    ["a leap day", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", 1709164800000000],
    ["a leap second is the one after it", "2016-12-31T23:59:60.25Z", "2017-01-01T00:00:00.25Z", 1483228800250000],
    ["a leap second elsewhere", "2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00Z", 1483228800000000],
    ["the last moment", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z", 253402300799999968],
    ["an offset of zero", "2026-01-02T03:04:05.678901+00:00", "2026-01-02T03:04:05.678901Z", 1767323045678901],
    ["zeros alone are dropped", "2026-01-02T03:04:00.000000+00:00", "2026-01-02T03:04:00Z", 1767323040000000],
    ["zeros of the seconds stay", "2026-01-02T03:04:00Z", "2026-01-02T03:04:00Z", 1767323040000000],
    ["nanoseconds in UTC are cut", "2026-01-02T03:04:05.120000999+00:00", "2026-01-02T03:04:05.12Z", 1767323045120000],
    ["the first year", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", -62135596800000000],
  ])("%s", (_, sent, text, micros) => {
    expect(parseMicros(sent)).toBe(micros);
    expect(parseInstantText(sent)).toBe(text);
  });

  test.each([
    ["a day that the month does not have", "2026-02-29T00:00:00Z"],
    ["a thirteenth month", "2026-13-01T00:00:00Z"],
    ["hour 24", "2026-01-01T24:00:00Z"],
    ["a second 60 within a month", "2016-12-30T23:59:60Z"],
    ["a second 60 within a day", "2016-12-31T22:59:60Z"],
    ["a second 61", "2016-12-31T23:59:61Z"],
    ["a leap second after the last year", "9999-12-31T23:59:60Z"],
    ["an offset of 24 hours", "2026-01-01T00:00:00+24:00"],
    ["a date alone", "2026-01-01"],
    ["a zone and more", "2026-01-01T00:00:00Z 0:00"],
    ["two zones", "2026-01-01T00:00:00Z+00:00"],
    ["a point without digits", "2026-01-01T00:00:00.Z"],
    ["a year before 1 in UTC", "0001-01-01T00:00:00+01:00"],
    ["a year after 9999 in UTC", "9999-12-31T23:30:00-01:00"],
    ["a plus sign that a query turned into a blank", "2026-01-01T00:00:00 00:00"],
    ["a very long fraction", `2026-01-01T00:00:00.${"1".repeat(60)}Z`],
    ["a number", 1767323045],
  ])("refused: %s", (_, sent) => {
    expect(parseMicros(sent)).toBeUndefined();
    expect(parseInstantText(sent)).toBeUndefined();
  });
});

test.each([
  ["braces", `{${someUuid}}`],
  ["the URN form", `urn:uuid:${someUuid}`],
  ["the nil UUID", "00000000-0000-0000-0000-000000000000"],
  ["nothing", ""],
  ["a line break at the end", `${someUuid}\n`],
])("%s is not a canonical UUID", (_, text) => expect(canonicalUuid(text)).toBeUndefined());

test("attribute values have NUL and lone surrogates replaced, at any depth", () => {
  expect(
    writeDocument({ a: ["x\0", { b: "\uDC00y" }], n: parseExact("9007199254740993") }, "value", {
      unstorable: "replace",
    }),
  ).toBe('{"a":["x\uFFFD",{"b":"\uFFFDy"}],"n":9007199254740993}');
});

test.each(["refuse", "replace", "keep"] as const)("bare tokens in documents become texts (%s)", (unstorable) => {
  const { value } = parseJsonObject(
    Buffer.from('{"value":{"a":[NaN,{"b":-Infinity}],"c":Infinity,"n":1.0}}'),
    true,
    true,
  );
  const text = '{"a":["NaN",{"b":"-Infinity"}],"c":"Infinity","n":1}';
  expect(writeDocument(value, "value", { unstorable })).toBe(text);
  expect(writeDocument((value as { c: unknown }).c, "value", { unstorable })).toBe('"Infinity"');
});

test("a document that is certain to be too large is refused before it is looked at", () => {
  const huge = { a: Array.from({ length: 100 }, () => 1), "b\0": 1 };
  expect(() => writeDocument(huge, "value", { bytesMax: 64 })).toThrow("value must have at most 64 bytes");
  for (const value of [{}, [], { a: [1, "é"], b: {} }, "x", 1, [[[]]]]) {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    expect(writeDocument(value, "value", { bytesMax: bytes })).toBe(JSON.stringify(value));
    expect(() => writeDocument(value, "value", { bytesMax: bytes - 1 })).toThrow("must have at most");
  }
});

describe("faults that wait for the row", () => {
  test("a good body is a value", () =>
    expect(withFault(() => readField(step(), { step: 1 }, "step"))).toEqual({ value: 1 }));

  test("the first fault is kept with its field", () => {
    expect(withFault(() => [readField(text(), {}, "a"), readField(text(), {}, "b")])).toEqual({
      fault: { text: "a is required", field: "a" },
    });
  });

  test("an error with another reason is thrown on", () => {
    const other = new AppError("invalid_run_id", "x");
    expect(() =>
      withFault(() => {
        throw other;
      }),
    ).toThrow(other);
  });
});

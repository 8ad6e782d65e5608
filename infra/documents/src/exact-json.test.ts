import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { DOCUMENT_DEPTH_MAX, exactDecimal, readDocument, sameJsonAs, writeCanonical } from "./exact-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const rewritten = (text: string) => writeCanonical(readDocument(bytes(text), "config"));

describe("documents that are accepted", () => {
  test.each([
    ["nothing at all is the empty object", "", "{}"],
    ["white space is removed", ' { "a" : [ 1 , null , true ] } ', '{"a":[1,null,true]}'],
    [
      "keys are sorted at every level, by UTF-16 code units",
      '{"b":{"z":1,"Z":2},"a":1,"é":0}',
      '{"a":1,"b":{"Z":2,"z":1},"é":0}',
    ],
    ["keys that look like numbers too", '{"10":1,"9":2,"a":3}', '{"10":1,"9":2,"a":3}'],
    ["lists keep their order", '{"a":[3,1,2]}', '{"a":[3,1,2]}'],
    [
      "numbers keep every digit",
      '{"a":[1.0,-0,1E5,12345678901234567890,1e-400]}',
      '{"a":[1.0,-0,1E5,12345678901234567890,1e-400]}',
    ],
    ["of a key sent twice the last value counts", '{"a":1,"a":2}', '{"a":2}'],
    ["__proto__ is a key like any other", '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
    ["an object that looks like a kept number is an object", '{"a":{"rawJSON":"1"}}', '{"a":{"rawJSON":"1"}}'],
  ])("%s", (_what, text, expected) => {
    expect(rewritten(text)).toBe(expected);
  });

  test("writing what was written changes nothing, and it is the same value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), (value) => {
        const once = rewritten(JSON.stringify(value));
        expect(rewritten(once)).toBe(once);
        expect(JSON.parse(once)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("documents that are refused", () => {
  test.each([
    ["a list", "[]", "config must be an object"],
    ["a number", "1", "config must be an object"],
    ["null", "null", "config must be an object"],
    ["a text", '"{}"', "config must be an object"],
    ["half an object", '{"a":', "config must be JSON"],
    ["NaN", '{"a":NaN}', "config must be JSON"],
    ["a byte order mark", "\u{FEFF}{}", "config must be JSON"],
    ["a number above double range", '{"a":{"b":[1e309]}}', "config contains a number out of range"],
    ["a number below double range", '{"a":-1e309}', "config contains a number out of range"],
    ["an integer of 400 digits", `{"a":${"9".repeat(400)}}`, "config contains a number out of range"],
  ])("%s", (_what, text, message) => {
    expect(() => rewritten(text)).toThrow(expect.objectContaining({ reason: "bad_request", message, field: "config" }));
  });

  test("bytes that are not UTF-8", () => {
    expect(() => readDocument(new Uint8Array([0x7b, 0xff, 0x7d]), "config")).toThrow("config must be JSON");
  });

  test("nesting beyond the bound, but not at it", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}0${"]".repeat(levels - 1)}}`;
    expect(rewritten(nested(DOCUMENT_DEPTH_MAX))).toBe(nested(DOCUMENT_DEPTH_MAX));
    expect(() => rewritten(nested(DOCUMENT_DEPTH_MAX + 1))).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});

describe("one number written in several ways", () => {
  test.each([
    [["1", "1.0", "1e0", "10e-1", "0.1E+1", "100E-2"]],
    [["0", "-0", "0.0", "-0.00e7", "0e-5"]],
    [["-2.5", "-25e-1", "-2.500"]],
    [["1200", "1.2e3", "12e2"]],
    [["0.001", "1e-3", "0.1e-2"]],
  ])("%j is one text", (ways) => {
    expect(new Set(ways.map(exactDecimal)).size).toBe(1);
  });
});

describe("numbers that differ", () => {
  test.each([
    ["1", "-1"],
    ["9007199254740992", "9007199254740993"],
    ["0.1", "0.10000000000000000001"],
    ["1e10", "1e11"],
    ["12345678901234567890", "12345678901234567891"],
    ["1", "10"],
  ])("%s and %s are two texts", (a, b) => {
    expect(exactDecimal(a)).not.toBe(exactDecimal(b));
  });
});

test("equal doubles written by JSON.stringify, and any shift of the point, are equal", () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 0, max: 40 }),
      (value, zeros) => {
        const text = JSON.stringify(value);
        const [mantissa, exponent = "0"] = text.split("e");
        const longer = `${mantissa}${mantissa?.includes(".") ? "" : "."}${"0".repeat(zeros + 1)}e${exponent}`;
        expect(exactDecimal(longer)).toBe(exactDecimal(text));
      },
    ),
  );
});

test("integers are equal exactly when they are equal", () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
      expect(exactDecimal(String(a)) === exactDecimal(String(b))).toBe(a === b);
    }),
  );
});

test("half a million zeros inside a number take no noticeable time", () => {
  // An expression for the zeros at the end would take minutes here, beyond the time of any test.
  const digits = `0.1${"0".repeat(500_000)}1`;
  expect(exactDecimal(digits)).toHaveLength(500_002 + "e-500002".length);
});

describe("JSON is the same", () => {
  test.each([
    ["1", "1.0"],
    ["100", "1e2"],
    ["-0", "0"],
    ["12345678901234567890", "1234567890123456789e1"],
    ['"a"', '"\\u0061"'],
    ['"\\n"', '"\\u000a"'],
    ['{"a":1,"b":2}', '{"b":2,"a":1.0}'],
    ['[1,{"a":[]}]', '[ 1.0 , {"a":[ ]} ]'],
    [' "a" ', '"a"'],
    ["null", " null"],
  ])("%s and %s", (a, b) => {
    expect(sameJsonAs(a)(b)).toBe(true);
    expect(sameJsonAs(b)(a)).toBe(true);
  });
});

describe("JSON differs", () => {
  test.each([
    ["1", "2"],
    ["9007199254740993", "9007199254740992"],
    ["0.1", "0.10000000000000000001"],
    ["1", '"1"'],
    ["true", "false"],
    ["null", "false"],
    ["null", "0"],
    ["null", "{}"],
    ['""', "null"],
    ['"a"', '"A"'],
    ["[]", "{}"],
    ["[1,2]", "[2,1]"],
    ['{"a":1}', '{"a":1,"b":null}'],
    ['"\\\\"', '"/"'],
  ])("%s and %s", (a, b) => {
    expect(sameJsonAs(a)(b)).toBe(false);
    expect(sameJsonAs(b)(a)).toBe(false);
  });
});

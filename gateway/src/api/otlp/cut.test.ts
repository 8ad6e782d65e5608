import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { cutList, cutObject, cutText } from "./span-fields.ts";

describe("a text that is cut", () => {
  test.each([
    ["abc", 3, "abc", false],
    ["abcd", 3, "abc", true],
    ["aé", 2, "a", true],
    ["aé", 3, "aé", false],
    ["a\u{1F600}b", 4, "a", true],
    ["a\u{1F600}b", 5, "a\u{1F600}", true],
    ["\u{1F600}", 3, "", true],
    ["", 0, "", false],
  ])("%j at %d bytes is %j", (text, bytesMax, value, isCut) =>
    expect(cutText(text, bytesMax)).toEqual({ value, isCut }),
  );

  test("is its longest beginning of whole characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, bytesMax) => {
        const { value, isCut } = cutText(text, bytesMax);
        expect(text.startsWith(value)).toBe(true);
        expect(isCut).toBe(value !== text);
        expect(Buffer.byteLength(value)).toBeLessThanOrEqual(bytesMax);
        const next = text.codePointAt(value.length);
        if (next === undefined) return;
        expect(Buffer.byteLength(value + String.fromCodePoint(next))).toBeGreaterThan(bytesMax);
      }),
    );
  });
});

test("a list keeps what fits, with its commas and brackets", () => {
  expect(cutList(["1", "22"], 6)).toEqual({ value: ["1", "22"], isCut: false });
  expect(cutList(["1", "22"], 5)).toEqual({ value: ["1"], isCut: true });
  expect(cutList(["1234567890", "2"], 5)).toEqual({ value: ["2"], isCut: true });
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 2, max: 60 }), (texts, bytesMax) => {
      const { value, isCut } = cutList(texts, bytesMax);
      expect(Buffer.byteLength(`[${value.join(",")}]`)).toBeLessThanOrEqual(bytesMax);
      expect(isCut).toBe(value.length < texts.length);
    }),
  );
});

test("an object keeps its first members", () => {
  const attributes = new Map([
    ["a", { json: "1" }],
    ["b", { json: '"long text"' }],
    ["c", { json: "true" }],
  ]);
  const shown = (bytesMax: number) => Buffer.from(cutObject(attributes, bytesMax).value).toString();
  expect(shown(100)).toBe('{"a":1,"b":"long text","c":true}');
  expect(shown(20)).toBe('{"a":1,"c":true}');
  expect(shown(2)).toBe("{}");
});

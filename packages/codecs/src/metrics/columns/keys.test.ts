import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { areKeysSorted, compareKeyBytes, sortKeys } from "./keys.ts";

const encoder = new TextEncoder();

/** Compares two byte strings, byte by byte. */
function compareBytes(a: string, b: string): number {
  const x = [...encoder.encode(a)];
  const y = [...encoder.encode(b)];
  const at = x.findIndex((byte, i) => byte !== y[i]);
  return at === -1 ? x.length - y.length : x[at]! - (y[at] ?? -1);
}

const text = fc.oneof(fc.string({ maxLength: 4 }), fc.string({ unit: "binary", maxLength: 4 }));

describe("the order of keys", () => {
  test.each([
    ["a key comes before its extensions", "loss", "loss/a"],
    ["upper case comes before lower case", "Loss", "loss"],
    ["ASCII comes before everything else", "z", "é"],
    ["U+FFFD comes before U+10000, although UTF-16 orders them the other way", "\ufffd", "\u{10000}"],
    ["U+D7FF comes before U+E000", "\ud7ff", "\ue000"],
    ["U+E000 comes before U+10FFFF", "\ue000", "\u{10ffff}"],
  ])("%s", (_, first, second) => {
    expect(compareKeyBytes(first, second)).toBeLessThan(0);
    expect(compareKeyBytes(second, first)).toBeGreaterThan(0);
    expect(compareKeyBytes(first, first)).toBe(0);
    expect(sortKeys([second, first])).toEqual([first, second]);
  });

  test("is that of the UTF-8 bytes, for any two keys", () => {
    fc.assert(
      fc.property(text, text, (a, b) => expect(Math.sign(compareKeyBytes(a, b))).toBe(Math.sign(compareBytes(a, b)))),
    );
  });

  test("sorts any keys, and recognizes sorted ones", () => {
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 12 }), (keys) => {
        const expected = [...keys].sort(compareBytes);
        expect(sortKeys([...keys])).toEqual(expected);
        expect(areKeysSorted(expected)).toBe(true);
        expect(areKeysSorted(keys)).toBe(keys.every((key, i) => key === expected[i]));
      }),
    );
  });

  test("a repeated key is not sorted", () => {
    expect(areKeysSorted(["a", "a"])).toBe(false);
    expect(areKeysSorted(["\u{10000}", "\u{10000}"])).toBe(false);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { endOfPrefix, keyCursor, readKeyCursor } from "./aggregates.rules.ts";

describe("the end of a prefix", () => {
  test.each([
    ["a", "b"],
    ["a/", "a0"],
    ["az", "a{"],
    ["\u{D7FF}", "\u{E000}"],
    ["a\u{10FFFF}", "b"],
    ["\u{10FFFF}", undefined],
    ["", undefined],
  ])("%j is %j", (prefix, end) => {
    expect(endOfPrefix(prefix)).toBe(end);
  });

  test("is above every text with the prefix and not above any later one, byte by byte", () => {
    const bytes = (text: string) => Buffer.from(text, "utf8");
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.string({ unit: "binary" }), (prefix, text) => {
        const end = endOfPrefix(prefix);
        if (end === undefined) return;
        const inside = text.startsWith(prefix);
        const within = Buffer.compare(bytes(text), bytes(prefix)) >= 0 && Buffer.compare(bytes(text), bytes(end)) < 0;
        expect(within).toBe(inside);
        expect(Buffer.compare(bytes(prefix + text), bytes(end))).toBe(-1);
      }),
    );
  });
});

describe("a cursor of keys", () => {
  test("gives the key back", () => {
    for (const key of ["", "loss", "a/b c", "é\u{10FFFF}"]) expect(readKeyCursor(keyCursor(key))).toBe(key);
  });

  test.each(["*", "YQ==", "YQ ", "_w", "YR", keyCursor("a\0b")])("refuses %j", (cursor) => {
    expect(() => readKeyCursor(cursor)).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "metric_cursor" }),
    );
  });
});

import { describe, expect, test } from "@jest/globals";
import { isWhiteSpace, splitOnWhiteSpace, trimWhiteSpace } from "./words.ts";

/** Every character of Unicode's property White_Space (PropList.txt). */
const ALL =
  "\t\n\v\f\r \u{85}\u{A0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}";

describe("white space", () => {
  test("is exactly what Unicode says", () => {
    const found = Array.from({ length: 0x11_00_00 }, (_, point) => point).filter((point) =>
      isWhiteSpace(String.fromCodePoint(point)),
    );
    expect(String.fromCodePoint(...found)).toBe(ALL);
  });

  test.each([
    ["of every kind is removed at both ends", `${ALL}a b${ALL}`, "a b"],
    ["alone leaves nothing", ALL, ""],
    ["is not the zero width space, nor the byte order mark", "\u{200B}a\u{FEFF}", "\u{200B}a\u{FEFF}"],
    ["may be absent", "", ""],
  ])("%s", (_what, text, trimmed) => {
    expect(trimWhiteSpace(text)).toBe(trimmed);
  });

  test("of every kind and length separates pieces", () => {
    expect(splitOnWhiteSpace(`a${ALL}b\u{FEFF}c d`)).toEqual(["a", "b\u{FEFF}c", "d"]);
  });
});

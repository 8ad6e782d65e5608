import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { plainText, renderAnsi } from "./ansi.ts";

const RED = "\u001b[31m";
const OFF = "\u001b[0m";

describe("a console line", () => {
  test("without codes is itself", () => {
    expect(renderAnsi("epoch 3 <b>loss</b>")).toEqual([{ text: "epoch 3 <b>loss</b>", style: {} }]);
    expect(renderAnsi("")).toEqual([]);
  });

  test("has the colors of its codes", () => {
    expect(renderAnsi(`${RED}bad${OFF} fine`)).toEqual([
      { text: "bad", style: { fg: 1 } },
      { text: " fine", style: {} },
    ]);
    expect(renderAnsi("\u001b[1;92;44mx")).toEqual([{ text: "x", style: { bold: true, fg: 10, bg: 4 } }]);
  });

  test.each([
    ["16 of the palette", "38;5;9", 9],
    ["the cube", "38;5;208", "#ff8700"],
    ["grays", "38;5;232", "#080808"],
    ["red, green and blue", "38;2;1;2;255", "#0102ff"],
    ["colons", "38:5:9", 9],
    ["a number that is not a color", "38;5;999", undefined],
    ["a text in place of a number", "38;2;1;2", undefined],
  ])("knows colors of %s", (_what, codes, fg) => {
    expect(renderAnsi(`\u001b[${codes}mx`)[0]?.style.fg).toBe(fg);
  });

  test("shows the last state of a progress bar", () => {
    expect(plainText("\r  0%|    | 0/9\r 50%|##  | 4/9\r100%|####| 9/9")).toBe("100%|####| 9/9");
    expect(plainText("downloading 100%\rdone\u001b[K")).toBe("done");
    expect(plainText("abcdef\rxy")).toBe("xycdef");
    expect(plainText("ab\b\bX")).toBe("Xb");
    expect(plainText("\u001b[2Kfresh")).toBe("fresh");
  });

  test("loses titles, links and other codes", () => {
    expect(plainText("\u001b]0;title\u0007text")).toBe("text");
    expect(plainText("\u001b]8;;javascript:alert(1)\u001b\\link\u001b]8;;\u001b\\")).toBe("link");
    expect(plainText("a\u001b[2Jb\u001bMc\u0000\u0085d")).toBe("abcd");
  });

  test("cannot be made long by a jump", () => {
    expect(plainText("\u001b[999999999Cx").length).toBeLessThanOrEqual(20_001);
  });

  test("never has a control character, and never more text than was sent where nothing jumps", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(RED, OFF, "\r", "\b", "\u001b[K", "\u001b[", "\u001b]", "\u001b", "\u001b[38;5", "<script>"),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const line = pieces.join("");
        const text = plainText(line);
        // oxlint-disable-next-line no-control-regex -- these must not be there
        expect(text).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/);
        // oxlint-disable-next-line no-control-regex -- these jump
        if (!/\u001b\[[0-?]*[ -/]*[CG]/.test(line)) expect(text.length).toBeLessThanOrEqual(line.length);
      }),
    );
  });

  test("of ordinary characters alone is returned whole, with any colors", () => {
    const ordinary = fc.string({ unit: fc.constantFrom("a", "é", "😀", "<", " ") });
    fc.assert(
      fc.property(fc.array(fc.tuple(ordinary, fc.integer({ min: 0, max: 107 }))), (pieces) => {
        const line = pieces.map(([text, code]) => `\u001b[${code}m${text}`).join("");
        expect(plainText(line)).toBe(pieces.map(([text]) => text).join(""));
      }),
    );
  });
});

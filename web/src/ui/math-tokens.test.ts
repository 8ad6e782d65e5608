import { expect, test } from "@jest/globals";
import { blockMath, inlineMath, mayHaveMath } from "./math-tokens.ts";

test.each([
  ["$x$ y", { raw: "$x$", tex: "x", isBlock: false }],
  [String.raw`$\$5 \cdot 2$.`, { raw: String.raw`$\$5 \cdot 2$`, tex: String.raw`\$5 \cdot 2`, isBlock: false }],
  ["$$a$$ b", { raw: "$$a$$", tex: "a", isBlock: true }],
  ["$5 and $6", undefined],
  ["$5$6", undefined],
  ["$ x$", undefined],
  ["$x $", undefined],
  ["$x\n$", undefined],
  ["$$", undefined],
  ["$x", undefined],
])("%j begins with a formula or not", (text, expected) => expect(inlineMath(text)).toEqual(expected));

test.each([
  ["$$\na\n$$\nb", "\na\n"],
  ["$$a$$", "a"],
  ["$$a$$ b", undefined],
  ["$$a$b$$", "a$b"],
  ["$$ $$", undefined],
  ["$$a", undefined],
])("%j is a block of a formula or not", (text, tex) => expect(blockMath(text)?.tex).toBe(tex));

test("texts without a pair of dollars load nothing", () => {
  expect(["a", "$5", "a $b\n$ c"].map(mayHaveMath)).toEqual([false, false, true]);
});

test("long texts of dollars take no time", () => {
  const began = performance.now();
  for (const text of ["$$".repeat(50_000), "$a ".repeat(50_000), `$$${"a".repeat(100_000)}`]) {
    blockMath(text);
    inlineMath(text);
  }
  expect(performance.now() - began).toBeLessThan(500);
});

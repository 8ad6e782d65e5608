import { expect, test } from "@jest/globals";
import { asciiJson } from "./console-lines.ts";

test.each([
  ["plain", '"plain"'],
  ["50%|█é😀\t", String.raw`"50%|\u2588\u00e9\ud83d\ude00\t"`],
  ['a "b" \\', String.raw`"a \"b\" \\"`],
])("%s is written as Python writes it", (text, json) => {
  expect(asciiJson(text)).toBe(json);
  expect(JSON.parse(asciiJson(text))).toBe(text);
});

import { expect, test } from "@jest/globals";
import { readPythonFloat } from "./text-files.ts";

test.each([
  ["1.5", 1.5],
  ["1.", 1],
  [".5", 0.5],
  ["-1e-05", -0.00001],
  ["1E3", 1000],
  ["nan", Number.NaN],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["", undefined],
  ["e5", undefined],
  ["1 2", undefined],
  ["0x10", undefined],
  ["constructor", undefined],
])("%j is %d", (text, number) => {
  expect(readPythonFloat(text)).toBe(number);
});

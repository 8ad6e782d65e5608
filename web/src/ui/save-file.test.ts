import { expect, test } from "@jest/globals";
import { fileName } from "./save-file.ts";

test.each([
  ["val/loss.png", "val_loss.png"],
  ["a b: c.tar.gz", "a_b_c.tar.gz"],
  [`${"x".repeat(300)}.csv`, `${"x".repeat(100)}.csv`],
  [".csv", "file.csv"],
  ["损失.svg", "_.svg"],
  ["no ending", "no_ending"],
])("a file named %s is saved as %s", (name, expected) => {
  expect(fileName(name)).toBe(expected);
});

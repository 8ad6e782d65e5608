import { expect, test } from "@jest/globals";
import { entryPathsOf } from "./artifact-names.rules.ts";

test("paths are relative and different, for any names", () => {
  const names = ["a/b", "/a//b", "../a/./b", "c\\d", "..", "/", "x\u0000y", "a/b#2", "a/b"];
  const paths = entryPathsOf(names);
  expect(paths).toEqual(["a/b", "a/b#2", "a/b#3", "c/d", "artifact", "artifact#2", "xy", "a/b#2#2", "a/b#4"]);
  expect(new Set(paths).size).toBe(names.length);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { bothModesFiles, deepFiles, modesOf } from "./suites.ts";

const textOf = (file: string): string => readFileSync(join(import.meta.dirname, file), "utf8");

test("every file of the table is there, once", () => {
  const files = [...bothModesFiles, ...deepFiles];
  expect(files.filter((file) => !existsSync(join(import.meta.dirname, file)))).toEqual([]);
  expect(new Set(files).size).toBe(files.length);
});

test("a file in both modes has suites that follow the table", () => {
  expect(bothModesFiles.filter((file) => !/describe(?:Own)?Modes\(|modesHere\(/.test(textOf(file)))).toEqual([]);
});

test("other files run with everything in one process", () => {
  expect(modesOf("e2e/runs.test.ts")).toEqual(["embedded", "split"]);
  expect(modesOf("e2e/attributes.test.ts")).toEqual(["embedded"]);
});

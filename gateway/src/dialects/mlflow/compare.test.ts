import { expect, test } from "@jest/globals";
import { passes } from "./compare.rules.ts";
import type { FilterClause } from "./filter.rules.ts";

const like = (operator: "LIKE" | "ILIKE", pattern: string, value = "Default"): boolean =>
  passes({ operator, texts: [pattern] } as unknown as FilterClause, value);

test.each([
  ["Default", true],
  ["%", true],
  ["%%", true],
  ["D%t", true],
  ["%fau%", true],
  ["_efaul_", true],
  ["%a%l%", true],
  ["%l%a%", false],
  ["default", false],
  ["Defaul", false],
  ["Default_", false],
  ["D.*t", false],
  ["", false],
])("Default is like %j: %j", (pattern, expected) => {
  expect(like("LIKE", pattern)).toBe(expected);
});

test("ILIKE does not mind case, and characters beyond the BMP are one", () => {
  expect(like("ILIKE", "dEF%")).toBe(true);
  expect(like("LIKE", "_", "😀")).toBe(true);
  expect(like("LIKE", "", "")).toBe(true);
});

test("a pattern of many parts takes no longer than its length allows", () => {
  expect(like("LIKE", `${"%a".repeat(2000)}b`, "a".repeat(4000))).toBe(false);
});

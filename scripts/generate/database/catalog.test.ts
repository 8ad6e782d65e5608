import { expect, test } from "@jest/globals";
import { comment, wrap } from "./catalog.ts";

test("a statement of at most 120 characters stays on its line", () => {
  const statement = `GRANT SELECT ON TABLE ${"a".repeat(78)} TO one, two, three;`;
  expect(statement.length).toBeLessThanOrEqual(120);
  expect(wrap(statement)).toBe(statement);
});

test("a longer one is broken after commas, and the further lines are indented", () => {
  const names = Array.from({ length: 20 }, (_, index) => `column_${index}`);
  const lines = wrap(`GRANT SELECT (${names.join(", ")}) ON TABLE t TO r;`).split("\n");
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/);
  expect(lines.map((line) => line.trim()).join(" ")).toBe(`GRANT SELECT (${names.join(", ")}) ON TABLE t TO r;`);
});

test("a text becomes comment lines, and no text becomes none", () => {
  expect(comment("first\nsecond", "  ")).toEqual(["  -- first", "  -- second"]);
  expect(comment(null)).toEqual([]);
});

test("a long text becomes several comment lines of at most 120 characters", () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
  const lines = comment(words.join(" "), "  ");
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
  expect(lines.map((line) => line.replace(/^ {2}-- /, "")).join(" ")).toBe(words.join(" "));
});

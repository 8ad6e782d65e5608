import { expect, test } from "@jest/globals";
import { describeTimes } from "./group-times.rules.ts";

test("files are added up by package, folder of tests or program, and the slowest are named", () => {
  const seconds = new Map([
    ["services/runs/src/a.test.ts", 1.25],
    ["services/runs/src/b/c.test.ts", 2],
    ["test/e2e/a.test.ts", 12],
    ["web/src/charts/a.test.ts", 0.04],
    ["scripts/a.test.ts", 0.5],
  ]);
  expect(describeTimes(seconds)).toEqual([
    "Seconds of test files, 16 in all threads together:",
    "    12.0  test/e2e",
    "     3.3  services/runs",
    "     0.5  scripts",
    "     0.0  web",
    "Slowest files:",
    "    12.0  test/e2e/a.test.ts",
    "     2.0  services/runs/src/b/c.test.ts",
    "     1.3  services/runs/src/a.test.ts",
    "     0.5  scripts/a.test.ts",
    "     0.0  web/src/charts/a.test.ts",
  ]);
});

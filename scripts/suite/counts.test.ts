import { expect, test } from "@jest/globals";
import { closingLine, countJest, type JestResults } from "./run-jest.ts";

const results = (some: Partial<JestResults>): JestResults => ({
  success: true,
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
  ...some,
});

test.each([
  ["all passed", results({ numPassedTests: 3 }), 0, "3 passed, 0 failed"],
  ["some failed", results({ success: false, numPassedTests: 3, numFailedTests: 2 }), 1, "3 passed, 2 failed"],
  [
    "some were skipped or are still to do",
    results({ numPassedTests: 3, numPendingTests: 1, numTodoTests: 1 }),
    0,
    "3 passed, 0 failed, 2 skipped",
  ],
  [
    "a file could not be loaded",
    results({ success: false, numPassedTests: 3, numRuntimeErrorTestSuites: 1 }),
    1,
    "3 passed, 1 failed",
  ],
  ["no test was found", results({ success: true }), 1, "0 passed, 1 failed"],
  ["all passed but the run failed, as with a broken teardown", results({ numPassedTests: 3 }), 1, "3 passed, 1 failed"],
  [
    "the run calls itself a failure and exits with 0",
    results({ success: false, numPassedTests: 3 }),
    0,
    "3 passed, 1 failed",
  ],
  ["no results were written", undefined, 0, "0 passed, 1 failed"],
])("when %s", (_case, found, exitCode, line) => {
  expect(closingLine(countJest(found, exitCode))).toBe(line);
});

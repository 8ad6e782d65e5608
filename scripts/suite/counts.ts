/** How many tests had each outcome; a skipped one is neither passed nor failed. */
export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** The results in the JSON that Jest writes with `--json`. */
export type JestResults = {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  /** Files that could not be loaded; no other number counts their tests. */
  readonly numRuntimeErrorTestSuites: number;
};

/** Adds two counts. */
export function addCounts(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/**
 * Counts Jest's results. A file that could not be loaded is one failure, and so is a run that
 * failed without a failed test to show for it (no results at all, no tests found, a set-up that broke).
 */
export function countJest(results: JestResults | undefined, exitCode: number): Counts {
  const failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  const silent = failed === 0 && (exitCode !== 0 || results?.success !== true);
  return {
    passed: results?.numPassedTests ?? 0,
    failed: silent ? 1 : failed,
    skipped: (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0),
  };
}

/** Returns the last line of a run: `3 passed, 0 failed`, and `, 1 skipped` where some were. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

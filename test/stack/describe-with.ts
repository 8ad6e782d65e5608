import { describe, test } from "@jest/globals";
import { isDeep } from "@tidemark/testkit";

/**
 * Declares a group of tests that need something which was obtained before: servers, a Python environment.
 * Where it is not available the group is skipped, because there is nothing to test with; the code that tried
 * to obtain it has noted that, the end of the test run repeats it, and with CI=true it fails the run.
 */
export function describeWith(need: unknown): typeof describe | typeof describe.skip {
  return need === undefined ? describe.skip : describe;
}

/** Declares a group of tests in a deep run, and nothing in another one. */
export const describeDeep: (name: string, suite: () => void) => void = isDeep ? describe : () => {};

/** Declares a test of a deep run. */
export const testDeep: (name: string, run: () => Promise<void>) => void = isDeep ? test : () => {};

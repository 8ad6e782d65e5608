import { readFile } from "node:fs/promises";
import { addCounts, closingLine, type Counts } from "./run-jest.ts";
import type { StaticStep, StepResult } from "./static-steps.ts";

/** The parts of a run. */
export type Suite = {
  readonly steps: readonly StaticStep[];
  /** Runs the tests proper; undefined when only the static steps are wanted. */
  readonly runTests: (() => Promise<Counts>) | undefined;
  /** Returns what the tests noted as missing on this machine; called after them. */
  readonly missing: () => Promise<readonly string[]>;
  /** Whether something missing is a failure, as on a machine of continuous integration. */
  readonly missingFails: boolean;
  readonly print: (line: string) => void;
};

/** Static steps that run at the same time: most of them use one core. */
const STEPS_TOGETHER = 2;

type FinishedStep = { readonly step: StaticStep; readonly result: StepResult; readonly seconds: string };

async function finish(step: StaticStep): Promise<FinishedStep> {
  const started = performance.now();
  const result: StepResult = await step.run().catch((error: unknown) => ({ exitCode: 1, output: String(error) }));
  return { step, result, seconds: ((performance.now() - started) / 1000).toFixed(1) };
}

/** Runs steps, a few at a time, and returns their ends in the order of the steps. */
function finishAll(steps: readonly StaticStep[]): readonly Promise<FinishedStep>[] {
  const ends = steps.map(() => Promise.withResolvers<FinishedStep>());
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < steps.length; at = next++) ends[at]!.resolve(await finish(steps[at]!));
  };
  for (let i = 0; i < STEPS_TOGETHER; i += 1) void work();
  return ends.map(({ promise }) => promise);
}

/**
 * Runs all static steps, even if some fail, and then the tests. Prints a line per step, then what could not be tested, and
 * as the last line the count. Returns whether nothing failed.
 */
export async function runSuite({ steps, runTests, missing, missingFails, print }: Suite): Promise<boolean> {
  const failedSteps: string[] = [];
  const unaskedSteps: string[] = [];
  for (const end of finishAll(steps)) {
    const { step, result, seconds } = await end;
    const { exitCode, output, unasked } = result;
    if (unasked !== undefined) {
      unaskedSteps.push(`${step.name}: ${unasked}`);
      print(`NOT CHECKED ${step.name} (${seconds} s): ${unasked}`);
      continue;
    }
    print(`${exitCode === 0 ? "ok    " : "FAILED"} ${step.name} (${seconds} s)`);
    if (exitCode === 0) continue;
    failedSteps.push(step.name);
    if (output.trim() !== "") print(output.trimEnd());
  }
  let counts: Counts = {
    passed: steps.length - failedSteps.length - unaskedSteps.length,
    failed: failedSteps.length,
    skipped: 0,
  };
  if (runTests !== undefined) counts = addCounts(counts, await runTests());

  const notices = await missing();
  if (notices.length > 0) {
    print(missingFails ? "Missing on this machine, which is a failure here:" : "Not tested on this machine:");
    for (const notice of notices) print(`- ${notice}`);
    if (missingFails) counts = addCounts(counts, { passed: 0, failed: notices.length, skipped: 0 });
  }
  // A machine that cannot reach the advisories would otherwise never pass.
  if (unaskedSteps.length > 0) print("Could not be asked, so not checked:");
  for (const notice of unaskedSteps) print(`- ${notice}`);
  if (failedSteps.length > 0) print(`Failed before the tests: ${failedSteps.join(", ")}`);
  print(closingLine(counts));
  return counts.failed === 0;
}

/** The variable with the file in which the test kit notes what the machine lacks. */
export const missingFileVariable = "TIDEMARK_MISSING_FILE";

/**
 * Returns the notes of tests in that file: each line says what is missing and what was therefore not tested. Several processes
 * append to it, so repeated lines count once, in the order of their first occurrence. Without a file nothing is missing.
 */
export async function readMissingNotices(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  return [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "");
}

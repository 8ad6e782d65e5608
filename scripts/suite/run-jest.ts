import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { nodeFirst } from "../run-command.ts";

/** The settings of a run of Jest. */
export type JestRun = {
  /** Folder with the jest.config.mjs. */
  readonly folder: string;
  /** Path of Jest's program. */
  readonly program: string;
  readonly args: readonly string[];
  /** Options of the Node that runs Jest, such as `--inspect-brk`. */
  readonly nodeOptions?: readonly string[];
  /** Added to the environment of the tests. */
  readonly environment: Readonly<Record<string, string>>;
  /** A folder for the results, removed by the caller. */
  readonly scratch: string;
  /** Where Jest's own report goes. */
  readonly report: "inherit" | "ignore";
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs Jest on native modules in its own process and counts its results. Passes signals on to it. */
export async function runJest({
  folder,
  program,
  args,
  nodeOptions = [],
  environment,
  scratch,
  report,
}: JestRun): Promise<Counts> {
  const results = join(scratch, "jest-results.json");
  await rm(results, { force: true });
  const flags = ["--disable-warning=ExperimentalWarning", ...nodeOptions];
  const child = spawn(process.execPath, [...flags, program, ...args, "--json", `--outputFile=${results}`], {
    cwd: folder,
    env: { ...nodeFirst(), ...environment },
    stdio: ["ignore", "ignore", report],
  });
  const passOn = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? 1));
    });
    return countJest(await readResults(results), exitCode);
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
}

async function readResults(file: string): Promise<JestResults | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as JestResults;
  } catch {
    return undefined;
  }
}

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

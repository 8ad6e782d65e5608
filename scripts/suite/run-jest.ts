import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeFirst } from "../run-command.ts";
import { type Counts, countJest, type JestResults } from "./counts.ts";

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
  /** A folder for the results, emptied by the caller. */
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
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", ...nodeOptions];
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

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A call of a method that logs something, with its arguments as JSON. */
export type LoggedCall = {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
};

/** The report of an example on its work. */
export type Report = {
  readonly run_id: string;
  readonly init: {
    readonly project: string;
    readonly config: unknown;
    readonly tags: readonly string[];
    readonly [name: string]: unknown;
  };
  readonly calls: readonly LoggedCall[];
};

/** An example that has run to its end. */
export type ExampleRun = {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
  /** undefined where it wrote none. */
  readonly report: Report | undefined;
};

/** Of the caller's environment an example sees this much: no credentials file, no settings. */
const kept = ["PATH", "LANG", "LC_ALL", "TMPDIR"] as const;

/**
 * Runs an example as a user would, in an empty folder that is its home too, and reads the report it writes there. `started` gets a
 * function that does what Ctrl-C does.
 */
export async function runExample(
  program: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  started: (interrupt: () => void) => void = () => {},
): Promise<ExampleRun> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-example-"));
  const file = join(folder, "report.json");
  const inherited = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const child = spawn(program, [...args, "--report", file], {
    cwd: folder,
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), HOME: folder, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  started(() => void child.kill("SIGINT"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    const text = await readFile(file, "utf8").catch(() => undefined);
    const report = text === undefined ? undefined : (parseExact(text) as Report);
    return { code: code ?? signal ?? "unknown", stdout, stderr, report };
  } finally {
    process.off("exit", kill);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The lines that a program printed: stripped, blank ones left out. */
export function printedLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/** Parses JSON; an integer beyond 2^53 becomes a bigint, so that two documents are equal only if all digits are. */
export function parseExact(text: string): unknown {
  const keepDigits: Reviver = (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && /^-?\d{16,}$/.test(source) ? BigInt(source) : value;
  return JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1]);
}

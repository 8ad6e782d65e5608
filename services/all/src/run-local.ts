import { ConfigError } from "@tidemark/host/config";
import { isStartError } from "@tidemark/local";
import { parseCommandLine, usage, type CommandLine } from "./command-line.ts";

/** The started parts. */
export type Running = {
  /** Resolves with a sentence when a required part has ended by itself. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
};

/** Prints one line of progress. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function explain(error: unknown): string {
  if (isStartError(error) || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Runs a start program at a terminal: reads the arguments, prints one line and exits with code 1 when it cannot start, and
 * stops cleanly on Ctrl-C, SIGTERM and SIGHUP (a second signal ends immediately).
 */
export async function runLocal(start: (line: CommandLine) => Promise<Running>): Promise<void> {
  let line: CommandLine;
  try {
    // npm sets INIT_CWD to where the command was typed; the working directory is the package's.
    line = parseCommandLine(process.argv.slice(2), process.env, process.env["INIT_CWD"] ?? process.cwd());
  } catch (error) {
    process.stderr.write(`tidemark: ${(error as Error).message}\n${usage}\n`);
    process.exitCode = 1;
    return;
  }
  if (line.help) {
    say(usage);
    return;
  }

  let stopping: Promise<void> | undefined;
  let running: Running | undefined;
  const end = (code: number): void => {
    if (stopping !== undefined) process.exit(code === 0 ? 130 : code);
    say(running === undefined ? "\nStopping …" : "\nStopping … (again to force)");
    stopping = (async () => running?.stop())();
    void stopping.then(
      () => process.exit(code),
      (error: unknown) => {
        process.stderr.write(`tidemark: ${explain(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(0));

  try {
    running = await start(line);
  } catch (error) {
    process.stderr.write(`tidemark: ${explain(error)}\n`);
    process.exit(1);
  }
  // A signal during the start had nothing to stop yet.
  if (stopping !== undefined) await running.stop();
  const sentence = await running.failed;
  if (stopping === undefined) {
    process.stderr.write(`tidemark: ${sentence}\n`);
    end(1);
  }
}

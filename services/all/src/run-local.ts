import { ConfigError } from "@tidemark/host/config";
import { isStartError } from "@tidemark/local";
import { newOwnerLink } from "./local-access.ts";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";

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

  if (line.link) {
    try {
      say(await newOwnerLink(line.dataDirectory));
    } catch (error) {
      process.stderr.write(`tidemark: ${explain(error)}\n`);
      process.exitCode = 1;
    }
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

/** The arguments of `npm start -- …` and `npm run split -- …`. */
export type CommandLine = {
  /** Port of the REST gateway. */
  port: number;
  /** Absolute path of the data folder. */
  dataDirectory: string;
  /** Whether to delete the contents of the data folder first. */
  fresh: boolean;
  /** Whether to print a new link of the owner for the server that runs with the data folder, and nothing else. */
  link: boolean;
  help: boolean;
};

const usage = `Usage: npm start -- [options]
  --port N        port of the REST API (default 8080; TIDEMARK_PORT)
  --data-dir DIR  folder that keeps everything (default ./data; TIDEMARK_DATA_DIRECTORY)
  --fresh         delete that folder first
  --link          print a new link that signs the owner in to the running server
  --help          this text
More settings are environment variables, listed in docs/config.md.`;

/** Resolves `~` and relative paths against the folder that the command was typed in. */
function directory(text: string, from: string): string {
  if (text === "~" || text.startsWith("~/")) return join(homedir(), text.slice(2));
  return isAbsolute(text) ? text : resolve(from, text);
}

/**
 * Reads the arguments; the environment supplies what they leave out.
 * @throws Error with one line about the first fault
 */
export function parseCommandLine(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string" },
      "data-dir": { type: "string" },
      fresh: { type: "boolean", default: false },
      link: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
    strict: true,
  });
  const portText = values.port ?? environment["TIDEMARK_PORT"] ?? "8080";
  const port = Number(portText);
  if (!/^\d{1,5}$/.test(portText) || port < 1 || port > 65_535) {
    throw new Error(`--port must be 1 to 65535, not ${portText}`);
  }
  const folder = values["data-dir"] ?? environment["TIDEMARK_DATA_DIRECTORY"] ?? "data";
  if (folder.trim() === "") throw new Error("--data-dir must name a folder");
  return {
    port,
    dataDirectory: directory(folder, workingDirectory),
    fresh: values.fresh === true,
    link: values.link === true,
    help: values.help === true,
  };
}

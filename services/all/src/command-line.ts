import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";

/** The arguments of `npm start -- …` and `npm run split -- …`. */
export type CommandLine = {
  /** Port of the REST gateway. */
  port: number;
  /** Absolute path of the data folder. */
  dataDirectory: string;
  /** Whether to delete the contents of the data folder first. */
  fresh: boolean;
  help: boolean;
};

export const usage = `Usage: npm start -- [options]
  --port N        port of the REST API (default 8080; TIDEMARK_PORT)
  --data-dir DIR  folder that keeps everything (default ./data; TIDEMARK_DATA_DIRECTORY)
  --fresh         delete that folder first
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
    help: values.help === true,
  };
}

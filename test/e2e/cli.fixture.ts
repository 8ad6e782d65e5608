import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = join(import.meta.dirname, "../../cli/src/main.ts");

/** Files of other trackers. */
export const fixtures = join(import.meta.dirname, "../../packages/import-formats/fixtures");

/** Makes an empty folder. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), "tidemark-cli-"));

/** Starts the command line for a server and a key; `state` is where it keeps what has not ended. */
export function startTidemark(
  { baseUrl, key, state }: { readonly baseUrl: string; readonly key: string; readonly state: string },
  args: readonly string[],
) {
  const env = { INSTANTML_API_BASE_URL: baseUrl, INSTANTML_API_KEY: key, XDG_STATE_HOME: state };
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; stdout: string; stderr: string }>();
  const child = execFile(process.execPath, [program, ...args], { env }, (_error, stdout, stderr) => {
    resolve({ code: child.exitCode, stdout, stderr });
  });
  return { child, ended: promise };
}

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { explainFailure, runCaptured, withLock } from "@tidemark/toolcache";
import type { Interpreter } from "./find-python.ts";

export type EnvironmentRequest = {
  readonly interpreter: Interpreter;
  /** Path of a requirements file that pins everything. */
  readonly requirements: string;
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
};

/**
 * A virtual environment with the pinned packages, as the path of its interpreter, or a part of a sentence that says why it cannot be had. It
 * is made once per requirements and interpreter, in the shared cache; of processes that ask at the same time one makes it.
 */
export async function makeEnvironment(request: EnvironmentRequest): Promise<{ python: string } | { missing: string }> {
  const { interpreter, requirements, cacheDir, log } = request;
  const packages = (await readFile(requirements, "utf8")).split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  const key = createHash("sha256")
    .update(JSON.stringify([interpreter.identity, packages]))
    .digest("hex")
    .slice(0, 16);
  const folder = join(cacheDir, "python", key);
  const python = join(folder, "bin/python");
  try {
    await mkdir(dirname(folder), { recursive: true });
    const onWait = (): void => log("Waiting for another Tidemark that is installing the Python packages");
    const fault = await withLock(`${folder}.lock`, () => install(request, folder, python), { onWait });
    return fault === undefined ? { python } : { missing: fault };
  } catch (error) {
    const cause = explainFailure(String(error));
    if (cause === undefined) throw error;
    return { missing: `${dirname(folder)} cannot be written: ${cause}` };
  }
}

/** @returns why it did not work, or undefined when the environment is there and starts */
async function install(request: EnvironmentRequest, folder: string, python: string): Promise<string | undefined> {
  const { interpreter, requirements, log } = request;
  // Written last: without it the folder is what an interrupted installation left. Scripts in an environment name its
  // path, so it cannot be made elsewhere and moved.
  const complete = join(folder, ".complete");
  if (existsSync(complete) && (await runCaptured(python, ["-c", ""])).code === 0) return undefined;
  await rm(folder, { recursive: true, force: true });
  log(`Installing the Python packages of ${requirements} (once)`);
  // Where the caller's Python looks for modules is not where this one should.
  const { PYTHONPATH: _path, PYTHONHOME: _home, VIRTUAL_ENV: _active, ...env } = request.env;
  const run = (command: string, args: string[]): ReturnType<typeof runCaptured> =>
    runCaptured(command, args, {
      env,
      stillRunningMs: 15_000,
      onStillRunning: (seconds) => log(`Still installing the Python packages (${seconds} s)`),
    });
  const made = await run(interpreter.path, ["-I", "-m", "venv", folder]);
  if (made.code !== 0) return `a virtual environment could not be made: ${lastLine(made.output)}`;
  const pip = ["-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--only-binary=:all:"];
  const installed = await run(python, [...pip, "--requirement", requirements]);
  if (installed.code !== 0) {
    return `the packages of ${requirements} could not be installed: ${explainFailure(installed.output) ?? lastLine(installed.output)}`;
  }
  await writeFile(complete, "");
  return undefined;
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { cacheDirectory } from "@tidemark/local";
import { explainFailure, findExecutable, runCaptured, withLock } from "@tidemark/local/toolcache";
import { noteMissing } from "./require-servers.ts";

/** The Python packages that a test needs. */
export type PythonNeeds = {
  /** Path of a requirements file that pins everything by exact version and checksum; only wheels are installed. */
  readonly requirements: string;
  /** What is not tested without it, as the end of the run reports. */
  readonly leftOut: string;
};

/**
 * Returns an interpreter (3.11 or newer; see findPython) with these packages, in its own environment in the shared cache;
 * undefined where that is not possible, which is then noted. With CI=true a note fails the run, so that nothing is left
 * out unseen.
 */
export async function requirePython({ requirements, leftOut }: PythonNeeds): Promise<{ python: string } | undefined> {
  const made = await obtainPython(requirements);
  if (!("missing" in made)) return made;
  await noteMissing(`Python: ${made.missing}; not tested: ${leftOut}`);
  return undefined;
}

/** The same without the note: a part of a sentence says why there is none. */
export async function obtainPython(requirements: string): Promise<{ python: string } | { missing: string }> {
  const { env, platform } = process;
  const interpreter = await findPython(env);
  if ("missing" in interpreter) return interpreter;
  const cacheDir = cacheDirectory({ env, platform, home: homedir(), cwd: process.cwd() });
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return makeEnvironment({ interpreter, requirements, cacheDir, env, log });
}

/** An interpreter that can make virtual environments. */
export type Interpreter = {
  readonly path: string;
  /** Version, kind of machine and C library: what an environment made with it depends on. */
  readonly identity: string;
};

const OLDEST = [3, 11] as const;
const names = ["python3.13", "python3.12", "python3.11", "python3"] as const;

// Debian splits ensurepip from the interpreter; without it an environment has no pip.
const probe = `
import ensurepip, json, sys, sysconfig, venv
print(json.dumps([sys.version_info[:3], sys.base_prefix, sysconfig.get_config_var("EXT_SUFFIX")]))
`;

/**
 * Looks for Python 3.11 or newer: TIDEMARK_PYTHON, else the first usable one of python3.13, python3.12, python3.11 and
 * python3 on PATH. Where there is none, a part of a sentence says what was tried. A variable that names something unusable
 * is an answer, not skipped.
 */
export async function findPython(env: NodeJS.ProcessEnv): Promise<Interpreter | { missing: string }> {
  const named = env["TIDEMARK_PYTHON"];
  if (named) {
    const found = await examine(named);
    return typeof found === "string" ? { missing: `TIDEMARK_PYTHON names ${named}, but ${found}` } : found;
  }
  const tried: string[] = [];
  for (const name of names) {
    const path = findExecutable(name, env["PATH"]);
    const found = path === undefined ? "not on PATH" : await examine(path);
    if (typeof found !== "string") return found;
    tried.push(`${name}: ${found}`);
  }
  return { missing: `no usable Python 3.11 or newer (${tried.join("; ")})` };
}

/** Returns the interpreter behind an executable, or why it cannot be used. */
async function examine(path: string): Promise<Interpreter | string> {
  const { code, stdout, output } = await runCaptured(path, ["-I", "-c", probe]);
  if (code !== 0) return `it cannot be used (${output.trim().split("\n").at(-1) || `exit code ${code}`})`;
  const [[major, minor]] = JSON.parse(stdout) as [[number, number, number], string, string];
  if (major !== OLDEST[0] || minor < OLDEST[1]) return `it is Python ${major}.${minor}`;
  return { path, identity: stdout.trim() };
}

export type EnvironmentRequest = {
  readonly interpreter: Interpreter;
  /** Path of a requirements file that pins everything. */
  readonly requirements: string;
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
};

/**
 * Returns a virtual environment with the pinned packages, as the path of its interpreter, or a part of a sentence that says
 * why it could not be made. It is made once per requirements and interpreter, in the shared cache; of processes that ask
 * simultaneously one makes it.
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
  // Written last: without it the folder is left over from an interrupted installation. Scripts in an environment name its
  // path, so it cannot be made elsewhere and moved.
  const complete = join(folder, ".complete");
  if (existsSync(complete) && (await runCaptured(python, ["-c", ""])).code === 0) return undefined;
  await rm(folder, { recursive: true, force: true });
  log(`Installing the Python packages of ${requirements} (once)`);
  // This Python must not look for modules where the caller's does.
  const { PYTHONPATH: _path, PYTHONHOME: _home, VIRTUAL_ENV: _active, ...env } = request.env;
  const run = (command: string, args: string[]): ReturnType<typeof runCaptured> =>
    runCaptured(command, args, {
      env,
      stillRunningMs: 15_000,
      onStillRunning: (seconds) => log(`Still installing the Python packages (${seconds} s)`),
    });
  const made = await run(interpreter.path, ["-I", "-m", "venv", folder]);
  if (made.code !== 0) return `a virtual environment could not be made: ${lastLine(made.output)}`;
  const pip = [
    "-I",
    "-m",
    "pip",
    "install",
    "--no-input",
    "--disable-pip-version-check",
    "--only-binary=:all:",
    "--require-hashes",
  ];
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

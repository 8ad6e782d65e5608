import { accessSync, constants, existsSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { spawn } from "node:child_process";

/**
 * Returns the first file of that name on a PATH that this process may execute, or undefined. It skips relative entries of
 * PATH: what they name depends on the current folder.
 *
 * @param {string} name a plain file name
 * @param {string | undefined} path the value of PATH
 * @returns {string | undefined} absolute path
 */
export const findExecutable = (name, path) =>
  (path ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable);

/** @param {string} file */
const isExecutable = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/**
 * Returns how to run the machine's npm: the one that started this process (npm says so in `npm_execpath`), else the one
 * beside this Node, else the first on PATH; undefined when there is none.
 *
 * @param {{ env: Record<string, string | undefined>, execPath: string, exists?: (path: string) => boolean }} machine
 * @returns {{ command: string, args: string[] } | undefined}
 */
export const findNpm = ({ env, execPath, exists = existsSync }) => {
  const running = env["npm_execpath"];
  // pnpm and yarn set the same variable to themselves.
  if (running && basename(running) === "npm-cli.js" && exists(running)) return { command: execPath, args: [running] };
  const beside = join(dirname(execPath), "../lib/node_modules/npm/bin/npm-cli.js");
  if (exists(beside)) return { command: execPath, args: [beside] };
  const onPath = findExecutable("npm", env["PATH"]);
  return onPath === undefined ? undefined : { command: onPath, args: [] };
};

const outputCharactersMax = 200_000;

/**
 * Runs a program to its end and captures its output. Never rejects because the program fails: look at `code`. A program that
 * cannot be started has code -1 and the reason in `output`.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env] the whole environment; default: this process's
 * @param {string} [options.input] given on standard input
 * @param {number} [options.uid] the account to run as; needs root
 * @param {number} [options.gid]
 * @param {(seconds: number) => void} [options.onStillRunning] called repeatedly with the seconds since the start
 * @param {number} [options.stillRunningMs] how often that is; default: every 5 s
 * @param {AbortSignal} [options.signal] when it fires, the program gets SIGTERM and the promise rejects with its reason
 * @returns {Promise<{ code: number, stdout: string, output: string }>} `output` is stdout and stderr in order of arrival, the last 200,000 characters
 */
export const runCaptured = (command, args, options = {}) =>
  new Promise((resolve, reject) => {
    const { cwd, env, uid, gid, input, onStillRunning, stillRunningMs = 5000, signal } = options;
    signal?.throwIfAborted();
    const child = spawn(command, args, {
      cwd,
      env,
      uid,
      gid,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const started = Date.now();
    const beat = setInterval(() => onStillRunning?.(Math.round((Date.now() - started) / 1000)), stillRunningMs);
    let stdout = "";
    let output = "";
    /** @param {string} text */
    const keep = (text) => {
      output = (output + text).slice(-outputCharactersMax);
    };
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      keep(text);
    });
    child.stderr?.setEncoding("utf8").on("data", keep);
    child.stdin?.on("error", () => {}).end(input);
    const onAbort = () => child.kill("SIGTERM");
    signal?.addEventListener("abort", onAbort, { once: true });
    /** @param {number} code */
    const finish = (code) => {
      clearInterval(beat);
      signal?.removeEventListener("abort", onAbort);
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason is whatever the caller aborted with
      if (signal?.aborted) reject(signal.reason);
      else resolve({ code, stdout, output });
    };
    child.once("error", (error) => {
      keep(`${error.message}\n`);
      finish(-1);
    });
    child.once("close", (code) => finish(code ?? -1));
  });

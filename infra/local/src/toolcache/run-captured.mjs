import { spawn } from "node:child_process";

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

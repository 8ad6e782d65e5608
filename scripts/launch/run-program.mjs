import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startError } from "../../infra/local/src/toolcache/index.mjs";

const exitWithParent = pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), "exit-with-parent.mjs")).href;

/**
 * Runs a TypeScript file with the given Node in the same terminal and folder. Signals sent to this process reach it, and it
 * ends when this process is killed.
 *
 * @param {{ path: string, version: string }} node
 * @param {string} file
 * @param {string[]} args
 * @param {{ cacheDir: string, onStarted: (deliver: (signal: NodeJS.Signals) => void) => void }} options
 * @returns {Promise<number>} the exit code; 128 + the signal's number when a signal ended it, as shells count
 * @throws StartError when Node cannot be started
 */
export const runProgram = (node, file, args, { cacheDir, onStarted }) =>
  new Promise((resolve, reject) => {
    const child = spawn(node.path, ["--import", exitWithParent, file, ...args], {
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      env: programEnvironment(process.env, node, cacheDir),
    });
    child.once("error", (error) => reject(startError(`${node.path} cannot be started: ${error.message}`, error)));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    onStarted((signal) => child.kill(signal));
  });

/**
 * Returns the environment of the program: children that it starts by name find the same Node first, and a cache keeps
 * compiled modules. Pure.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {{ path: string, version: string }} node
 * @param {string} cacheDir
 * @returns {NodeJS.ProcessEnv}
 */
const programEnvironment = (env, node, cacheDir) => ({
  ...env,
  PATH: [dirname(node.path), env["PATH"]].filter(Boolean).join(delimiter),
  NODE_COMPILE_CACHE: env["NODE_COMPILE_CACHE"] ?? join(cacheDir, "compile-cache"),
  TIDEMARK_LAUNCHER_PID: String(process.pid),
});

/** @type {readonly NodeJS.Signals[]} */
const passedOn = ["SIGINT", "SIGTERM", "SIGHUP"];
const repeatMs = 1000;

/**
 * Decides for each signal in turn whether the launcher passes it on to the program. Ctrl-C in a terminal goes to every
 * process of the foreground group, so the program already has its SIGINT, and a second one could mean "stop immediately". A
 * SIGINT more than a second after the first is always passed on. Pure except for its memory.
 *
 * @param {{ onTerminal: boolean }} options
 * @returns {(signal: NodeJS.Signals, nowMs: number) => boolean}
 */
export const signalFilter = ({ onTerminal }) => {
  /** @type {number | undefined} */
  let firstMs;
  return (signal, nowMs) => {
    if (signal !== "SIGINT" || !onTerminal) return true;
    firstMs ??= nowMs;
    return nowMs - firstMs > repeatMs;
  };
};

/**
 * Handles the signals that end a program: before the program runs they end the preparations, afterwards they go to it.
 *
 * @returns {{ abort: AbortSignal, received(): NodeJS.Signals | undefined, deliverTo: (target: (signal: NodeJS.Signals) => void) => void }}
 */
export const takeSignals = () => {
  const controller = new AbortController();
  const streams = [process.stdin, process.stdout, process.stderr];
  const passes = signalFilter({ onTerminal: streams.some((stream) => stream.isTTY) });
  /** @type {NodeJS.Signals | undefined} */
  let received;
  /** @type {((signal: NodeJS.Signals) => void) | undefined} */
  let target;
  for (const signal of passedOn) {
    process.on(signal, () => {
      received = signal;
      if (target === undefined) controller.abort(new Error(signal));
      else if (passes(signal, performance.now())) target(signal);
    });
  }
  return {
    abort: controller.signal,
    received: () => received,
    deliverTo: (deliver) => {
      target = deliver;
    },
  };
};

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Takes one line, without its line end, for the person who watches the start. */
export type Log = (line: string) => void;

/** How a process ended: with a code, or by a signal. */
export type ChildExit = { code: number | null; signal: NodeJS.Signals | null };

/** A server that runs as a child process. */
export type Child = {
  pid: number;
  /** Resolves when the process has ended, for any reason; never rejects. */
  exited: Promise<ChildExit>;
  /** The last lines that it printed, oldest first, at most 100. */
  lastLines(): readonly string[];
  /** Sends the first of `stopSignals`, and the next one when that takes too long. May be called at any time, even twice. */
  stop(): Promise<ChildExit>;
};

/** One step of ending a process: the signal, and how long it may take before the next step. */
export type StopStep = { signal: NodeJS.Signals; waitMs: number };

export type ChildOptions = {
  /** Absolute path. */
  command: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment: a server does not see variables that a person has set for other programs. */
  env: NodeJS.ProcessEnv;
  /** The account to run as, when this process is root. `cwd` is entered before the change of account. */
  account?: { uid: number; gid: number } | undefined;
  /** Receives the lines that it prints on both outputs. */
  onLine?: Log | undefined;
  /** Default: SIGTERM, 10 s, then SIGKILL. The process also gets the first one when this process has ended. */
  stopSignals?: readonly StopStep[];
};

const linesMax = 100;
const lateOutputMs = 500;
const defaultStop: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

// A watcher (a small shell without a parent, in the root folder) reads from a pipe of this process. A line says that the
// server has ended by itself; the end of the pipe says that this process has ended. The server takes over the process of
// the first shell, so both know its id.
const watch = 'read -r _ <&3 || kill -s "$1" "$2"';
const launch = '( cd / && exec sh -c "$1" tidemark-watch "$2" $$ >/dev/null 2>&1 & ); shift 2; exec "$@" 3<&-';

/**
 * Starts a server that never outlives this process, not even when this process is killed. It gets its own process group:
 * Ctrl-C in a terminal reaches only the program, which then stops its servers in the order that it needs.
 *
 * @throws the error of the operating system when the process cannot be started
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args, cwd, env, account, onLine, stopSignals = defaultStop } = options;
  const first = (stopSignals[0]?.signal ?? "SIGTERM").slice("SIG".length);
  const child = spawn("/bin/sh", ["-c", launch, "sh", watch, first, command, ...args], {
    cwd,
    env,
    ...account,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream as Readable }).on("line", (line) => {
      lines.push(line);
      if (lines.length > linesMax) lines.shift();
      onLine?.(line);
    });
  }
  const lifeline = child.stdio[3] as Writable;
  lifeline.on("error", () => {});
  // On "exit", because the outputs only close when the watcher has closed its end.
  child.once("exit", () => lifeline.end("ended\n"));
  const exited = exitOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} has no process id`);
  let stopping: Promise<ChildExit> | undefined;
  return {
    pid,
    exited,
    lastLines: () => lines,
    stop: () => (stopping ??= stopInSteps(child, exited, stopSignals)),
  };
}

async function exitOf(child: ChildProcess): Promise<ChildExit> {
  const closed = new Promise((resolve) => child.once("close", resolve));
  const exit = await new Promise<ChildExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });
  // Its last lines may still be on the way; its own children may hold the outputs open for longer.
  await Promise.race([closed, pause(lateOutputMs, undefined, { ref: false })]);
  return exit;
}

async function stopInSteps(
  child: ChildProcess,
  exited: Promise<ChildExit>,
  steps: readonly StopStep[],
): Promise<ChildExit> {
  for (const { signal, waitMs } of steps) {
    child.kill(signal);
    const patience = new AbortController();
    // The pause fails when the child has exited, and then decides nothing.
    const timeout = pause(waitMs, undefined, { signal: patience.signal }).catch(() => undefined);
    const exit = await Promise.race([exited, timeout]);
    patience.abort();
    if (exit !== undefined) return exit;
  }
  return exited;
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A Tidemark process that a test started. */
export type Child = {
  readonly name: string;
  readonly pid: number;
  /** What it has printed so far. */
  output(): string;
  /** Sends a signal and waits for the end; SIGKILL after 20 s. Returns the exit code, or the signal's name. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<number | string>;
};

const PATIENCE_MS = 20_000;
const main = join(import.meta.dirname, "../../services/all/src/main.ts");
const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Starts the modules of a target as a process of their own, with exactly these settings. */
export function startChild(target: string, settings: Readonly<Record<string, string>>): Child {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [main, `--target=${target}`], {
    env: {
      PATH,
      HOME,
      NODE_NO_WARNINGS: "1",
      ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  alive.add(child);
  let printed = "";
  const keep = (chunk: Buffer): void => void (printed = (printed + chunk.toString()).slice(-200_000));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = once(child, "exit").then(([code, signal]) => {
    alive.delete(child);
    return (code ?? signal) as number | string;
  });
  return {
    name: target,
    pid: child.pid ?? 0,
    output: () => printed,
    signal: (signal) => void child.kill(signal),
    ended,
    async end(signal = "SIGTERM") {
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      try {
        return await ended;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

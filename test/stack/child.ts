import { join } from "node:path";
import { startChild as startLocalChild } from "@tidemark/local";
import { PATIENCE_MS, until } from "@tidemark/testkit";
import type { Stack } from "./attach.ts";

/** A Tidemark process that a test started. */
export type Child = {
  readonly name: string;
  readonly pid: number;
  /** Its output so far; only the end of a long output. */
  output(): string;
  /** Sends a signal and waits for the end; SIGKILL when it takes too long. Returns the exit code, or the signal's name. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<number | string>;
};

const OUTPUT_CHARACTERS_MAX = 200_000;
const root = join(import.meta.dirname, "../..");

/**
 * Starts the modules of a target as a separate process, with exactly these settings. It ends
 * with the test that started it, even when that is killed. No file that it writes gets longer than `fileBytesMax`, a multiple of 512.
 */
export async function startChild(
  target: string,
  settings: Readonly<Record<string, string>>,
  { fileBytesMax }: { readonly fileBytesMax?: number | undefined } = {},
): Promise<Child> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE } = process.env;
  let printed = "";
  const program = [join(root, "services/all/src/main.ts"), `--target=${target}`];
  const child = await startLocalChild({
    ...(fileBytesMax === undefined
      ? { command: process.execPath, args: program }
      : // POSIX counts in blocks of 512 bytes. An ignored SIGXFSZ makes the write fail instead of ending the process.
        {
          command: "/bin/sh",
          args: ["-c", `trap '' XFSZ; ulimit -f ${fileBytesMax / 512}; exec "$@"`, "sh", process.execPath, ...program],
        }),
    cwd: root,
    env: {
      PATH,
      HOME,
      NODE_NO_WARNINGS: "1",
      ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
      ...settings,
    },
    onLine: (line) => {
      printed = `${printed}${line}\n`.slice(-OUTPUT_CHARACTERS_MAX);
    },
  });
  const ended = child.exited.then(({ code, signal }) => code ?? signal ?? "gone");
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const signal = (name: NodeJS.Signals): void => {
    if (!over) process.kill(child.pid, name);
  };
  return {
    name: target,
    pid: child.pid,
    output: () => printed,
    signal,
    ended,
    async end(name = "SIGTERM") {
      signal(name);
      const timer = setTimeout(() => signal("SIGKILL"), PATIENCE_MS);
      try {
        return await ended;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The parts of a stack that show whether it is ready, and if not, why. */
export type Observed = Pick<Stack, "api" | "internalPorts"> & { readonly children: ReadonlyMap<string, Child> };

/**
 * Waits until all of a stack is ready, as its gateway sees it. @throws Error that says what each module answers and what its process printed
 * last
 */
export async function untilReady(stack: Observed): Promise<void> {
  try {
    await until("readiness", async () => (await stack.api.get("/readyz")).status === 200);
  } catch (error) {
    const reports = await Promise.all([...stack.internalPorts.keys()].map((module) => reportOf(stack, module)));
    throw new Error([String(error), ...new Set(reports)].join("\n"), { cause: error });
  }
}

const ANSWER_MS = 10_000;
const OUTPUT_CHARACTERS = 4000;

async function reportOf({ children, internalPorts }: Observed, module: string): Promise<string> {
  const child = children.get(module);
  const asked = fetch(`http://127.0.0.1:${internalPorts.get(module)}/readyz`, {
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const answer = await asked.then(async (response) => `${response.status} ${await response.text()}`, String);
  return `--- ${child?.name} (process ${child?.pid}): ${answer.trim()}\n${child?.output().slice(-OUTPUT_CHARACTERS)}`;
}

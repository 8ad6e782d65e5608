import { join } from "node:path";
import { startChild as startLocalChild } from "@tidemark/local";
import { PATIENCE_MS } from "@tidemark/testkit";

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

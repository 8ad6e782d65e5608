import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pollUntil } from "./poll-until.ts";

export type HeldServer = { pid: number; port: number; url: string };

/** Starts a server in another process, and returns that process, to kill it. */
export async function holdInProcess(
  what: "postgres" | "sleep",
  folder: string,
): Promise<{ holder: ChildProcess; server: HeldServer }> {
  const script = fileURLToPath(new URL("hold-server.fixture.ts", import.meta.url));
  const holder = spawn(process.execPath, [script, what, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: holder.stdout });
  const [line] = (await once(lines, "line")) as [string];
  return { holder, server: JSON.parse(line) as HeldServer };
}

/** Kills a process without a warning and waits until it has ended. */
export async function killHard(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Whether a process ends. */
export async function hasEnded(pid: number): Promise<boolean> {
  const gone = await eventually(() => {
    try {
      process.kill(pid, 0);
      return undefined;
    } catch {
      return true;
    }
  });
  return gone === true;
}

/** Returns the first answer that is not undefined; undefined after a time unrelated to speed (like the test kit's `until`, which is built on this package). */
export function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T | undefined> {
  return pollUntil(ask, { everyMs: 20, timeoutMs: 240_000 });
}

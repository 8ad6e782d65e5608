import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A program to run, and the files that it is made of. */
export type Restarting = {
  /** Absolute paths; everything below them is watched. */
  readonly folders: readonly string[];
  /** Whether a change of this file (a path below one of the folders) calls for a restart. */
  readonly matters: (file: string) => boolean;
  readonly start: () => ChildProcess;
  readonly print: (line: string) => void;
  /** Ends the program and the watching. */
  readonly signal: AbortSignal;
};

// An editor or a checkout changes several files in a row.
const QUIET_MS = 200;

/**
 * Runs a program, and runs it again whenever a file changes: the old one gets SIGTERM, and the next one starts when it has
 * ended, so that ports and folders are free again. A program that ends by itself is started again by the next change.
 * Returns when `signal` has ended it.
 */
export async function restartOnChange({ folders, matters, start, print, signal }: Restarting): Promise<void> {
  let change = Promise.withResolvers<string>();
  const watchers = folders.map((folder) =>
    watch(folder, { recursive: true }, (_event, name) => {
      const file = join(folder, name ?? "");
      if (matters(file)) change.resolve(relative(process.cwd(), file));
    }),
  );
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  try {
    while (!signal.aborted) {
      change = Promise.withResolvers<string>();
      const child = start();
      let isStopping = false;
      const ended = once(child, "exit").then(([code, name]) => {
        if (!isStopping) print(`it has ended (${name ?? code}); waiting for a change`);
      });
      const file = await Promise.race([change.promise, aborted]);
      isStopping = true;
      if (file !== undefined) print(`${file} has changed; starting again`);
      child.kill("SIGTERM");
      await ended;
      if (file !== undefined) await pause(QUIET_MS);
    }
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { BackgroundCommand, BackgroundReport } from "./background-process.ts";

/** A load in a separate process. */
export type Background = {
  /** Ends it and returns how it went. */
  stop(): Promise<BackgroundReport>;
};

/** Starts a load that runs while something else is measured, in a separate process, so that its work does not show in what this process measures. */
export async function startBackground(command: BackgroundCommand): Promise<Background> {
  const child = fork(join(import.meta.dirname, "background-process.ts"), { execArgv: [] });
  child.send(command);
  await once(child, "message");
  return {
    async stop() {
      const told = once(child, "message") as Promise<[BackgroundReport]>;
      const ended = once(child, "exit");
      child.send("stop");
      const [report] = await told;
      await ended;
      return report;
    },
  };
}

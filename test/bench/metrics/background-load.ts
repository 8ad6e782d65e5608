import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LoadCommand, LoadReport } from "./load-process.ts";

/** Writes that go on in a separate process; `stop` ends them and returns how they went. */
export async function startBackgroundLoad(command: LoadCommand): Promise<{ stop(): Promise<LoadReport> }> {
  const child = fork(join(import.meta.dirname, "load-process.ts"), { execArgv: [] });
  child.send(command);
  await once(child, "message");
  return {
    async stop() {
      const told = once(child, "message") as Promise<[LoadReport]>;
      const ended = once(child, "exit");
      child.send("stop");
      const [report] = await told;
      await ended;
      return report;
    },
  };
}

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { NoiseCommand, NoiseReport } from "./noise-process.ts";

/** Requests that go on in a separate process; `stop` ends them and returns how they went. */
export async function startNoise(command: NoiseCommand): Promise<{ stop(): Promise<NoiseReport> }> {
  const child = fork(join(import.meta.dirname, "noise-process.ts"), { execArgv: [] });
  child.send(command);
  await once(child, "message");
  return {
    async stop() {
      const told = once(child, "message") as Promise<[NoiseReport]>;
      const ended = once(child, "exit");
      child.send("stop");
      const [report] = await told;
      await ended;
      return report;
    },
  };
}

import { fork } from "node:child_process";
import { once } from "node:events";

/** A load in a process of its own. */
export type LoadChild<Report> = { stop(): Promise<Report> };

/**
 * Starts a program that takes a command as its first message, answers when it has begun, and ends with a report after the next message; so that its
 * work does not show in what this process measures. `stop` ends it and returns the report.
 */
export async function startLoadChild<Report>(program: string, command: object): Promise<LoadChild<Report>> {
  const child = fork(program, { execArgv: [] });
  child.send(command);
  await once(child, "message");
  return {
    async stop() {
      const told = once(child, "message") as Promise<[Report]>;
      const ended = once(child, "exit");
      child.send("stop");
      const [report] = await told;
      await ended;
      return report;
    },
  };
}

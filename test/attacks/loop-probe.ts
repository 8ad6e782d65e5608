import { createServer } from "node:http";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

/** The resources that a process used since the previous question. */
export type Figures = {
  /** The longest time that its event loop was held, in milliseconds of CPU: other work of the machine does not count. Up to `TICK_MS` too much. */
  readonly heldMs: number;
  /** Milliseconds of CPU of all its threads. */
  readonly cpuMs: number;
  /** The most memory that it had. */
  readonly rssBytes: number;
};

/** The variable that names the folder in which each process that loads this file has a socket. */
export const PROBE_VARIABLE = "PROBE_DIRECTORY";

/** Returns the socket of a module's process. */
export const probeSocket = (directory: string, target: string): string => join(directory, `${target}.sock`);

const TICK_MS = 10;

/** Threads have the name of their process among their arguments, too. */
const target = isMainThread
  ? process.argv.find((argument) => argument.startsWith("--target="))?.split("=")[1]
  : undefined;
const directory = process.env[PROBE_VARIABLE];
if (target !== undefined && directory !== undefined) watch(probeSocket(directory, target));

/** Watches this thread's event loop, and reports its findings over the socket. Neither keeps the process alive. */
function watch(socket: string): void {
  const inMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
  let threadMs = inMs(process.threadCpuUsage());
  let processMs = inMs(process.cpuUsage());
  let [heldMs, rssBytes] = [0, 0];
  const look = (): void => {
    const now = inMs(process.threadCpuUsage());
    heldMs = Math.max(heldMs, now - threadMs);
    threadMs = now;
    rssBytes = Math.max(rssBytes, process.memoryUsage.rss());
  };
  setInterval(look, TICK_MS).unref();
  createServer((_, response) => {
    look();
    const now = inMs(process.cpuUsage());
    const figures: Figures = { heldMs, cpuMs: now - processMs, rssBytes };
    processMs = now;
    [heldMs, rssBytes] = [0, 0];
    response.setHeader("connection", "close").end(JSON.stringify(figures));
  })
    .listen(socket)
    .unref();
}

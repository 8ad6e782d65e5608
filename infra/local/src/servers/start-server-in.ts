import { homedir } from "node:os";
import { basename } from "node:path";
import { explainFailure, startError } from "../toolcache/failures.mjs";
import { claimFolder, unusableFolder, stopLeftovers } from "../claim-folder.ts";
import { freePort, isPortFree } from "../free-port.ts";
import { startChild, type Child, type ChildExit, type Log, type StopStep } from "../start-child.ts";
import { pollUntil } from "../poll-until.ts";

export type ServerSpec = {
  /** The name that people know it by. */
  title: string;
  path: string;
  /** Absolute; claimed for this process, and the server's current folder. */
  folder: string;
  port: number | undefined;
  log: Log;
  onLine: Log | undefined;
  stopSteps: readonly StopStep[];
  /** Writes the files that the server needs into its folder and returns how to start it on that port. */
  prepare: (port: number) => Promise<{ args: readonly string[]; env: NodeJS.ProcessEnv }>;
  /** Whether the server on that port works. */
  isReady: (port: number) => Promise<boolean>;
  /** Finds the server's own reason for ending in the lines that it printed. */
  explain: (lines: readonly string[]) => string | undefined;
};

export type ServerIn = { port: number; pid: number; exited: Promise<ChildExit>; stop(): Promise<void> };

const pickedPortTries = 5;
const readyPollMs = 20;
const readyTimeoutMs = 300_000;

/**
 * Runs a server that keeps its data in one folder and listens on one port: claims the folder, stops what a killed Tidemark
 * left in it, starts the server and waits until it is ready.
 *
 * @throws StartError in one line
 */
export async function startServerIn(spec: ServerSpec): Promise<ServerIn> {
  const { title, path, folder, log, stopSteps } = spec;
  const claim = await claimFolder(folder);
  try {
    await stopLeftovers(folder, basename(path), stopSteps, log);
    // Otherwise another program's answer on that port could pass for the server's.
    if (spec.port !== undefined && !(await isPortFree(spec.port))) throw portInUseError(title, spec.port);
    for (let attempt = 1; ; attempt++) {
      const port = spec.port ?? (await freePort());
      const child = await launch(spec, port);
      if (await becomesReady(spec, child, port)) {
        let stopped: Promise<void> | undefined;
        return {
          port,
          pid: child.pid,
          exited: child.exited,
          stop: () => (stopped ??= child.stop().then(() => claim.release())),
        };
      }
      await child.stop();
      const lines = child.lastLines();
      const portInUse = lines.some((line) => /address already in use|port .* (is )?already in use/i.test(line));
      if (portInUse && spec.port === undefined && attempt < pickedPortTries) continue;
      if (portInUse) throw portInUseError(title, port);
      const cause = explainFailure(lines.join("\n"));
      const reason = cause === "the disk is full" ? cause : (spec.explain(lines) ?? lines.at(-1) ?? "it said nothing");
      throw startError(`${title} in ${folder} did not start: ${reason}`);
    }
  } catch (error) {
    await claim.release();
    throw unusableFolder(folder, error);
  }
}

function portInUseError(title: string, port: number): Error {
  return startError(`port ${port}, meant for ${title}, is in use by another program`);
}

async function launch({ path, folder, onLine, stopSteps, prepare }: ServerSpec, port: number): Promise<Child> {
  const { args, env } = await prepare(port);
  return startChild({
    command: path,
    args,
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", HOME: homedir(), ...env },
    onLine,
    stopSignals: stopSteps,
  });
}

async function becomesReady({ isReady }: ServerSpec, child: Child, port: number): Promise<boolean> {
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  const ready = await pollUntil(async () => (ended ? false : (await isReady(port)) || undefined), {
    everyMs: readyPollMs,
    timeoutMs: readyTimeoutMs,
  });
  return ready === true && !ended;
}

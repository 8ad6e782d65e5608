import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { explainFailure, startError } from "@tidemark/toolcache";
import { freePort } from "../free-port.ts";
import { pollUntil } from "../poll-until.ts";
import { startChild, type Child, type Log, type StopStep } from "../start-child.ts";
import { stopLeftovers } from "../stop-leftovers.ts";
import type { Account } from "./account.ts";
import type { PostgresPrograms } from "./obtain-postgres.ts";
import { settingArguments, type PostgresSettings } from "./settings.ts";

/** Fast shutdown (disconnects clients, writes everything), then immediate shutdown (the next start recovers), then a kill. */
const postgresStop: readonly StopStep[] = [
  { signal: "SIGINT", waitMs: 60_000 },
  { signal: "SIGQUIT", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

const pickedPortTries = 5;
const readyPollMs = 10;
// Recovery after a power cut reads the whole log since the last checkpoint; a large one on a slow disk takes minutes.
const readyTimeoutMs = 600_000;
const slowStartMs = 5_000;

/**
 * Returns how to name the cluster to a program that runs in it. If this process is root, the program runs as another
 * account, which may not enter the folders above (root's home folder is closed). Its current folder is set before the
 * account changes, and Linux provides that folder under a fixed path. `cwd` must be the cluster.
 */
export function clusterArgument(cluster: string, account: Account | undefined): string {
  return account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : cluster;
}

/** Returns the environment of a server: without PG* variables of a person's shell, and with messages in English. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}

/** A server that accepts connections. */
export type RunningServer = { child: Child; port: number };

/**
 * Starts the server of a cluster and waits until it accepts connections, which after a power cut includes its recovery.
 *
 * @param port of 127.0.0.1; undefined picks a free one
 * @throws StartError in one line: port in use, disk full, folder in use, or the server's own reason
 */
export async function startServer(
  programs: PostgresPrograms,
  cluster: string,
  options: {
    account: Account | undefined;
    port: number | undefined;
    settings: PostgresSettings;
    log: Log;
    onLine?: Log | undefined;
  },
): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const started = await tryStart(programs, cluster, port, options);
    if ("child" in started) return { child: started.child, port };
    // Another program may have taken the port since it was found to be free.
    if (started.portInUse && options.port === undefined && attempt < pickedPortTries) continue;
    throw startError(
      started.portInUse ? `port ${port}, meant for PostgreSQL, is in use by another program` : started.text,
    );
  }
}

async function tryStart(
  programs: PostgresPrograms,
  cluster: string,
  port: number,
  {
    account,
    settings,
    log,
    onLine,
  }: { account: Account | undefined; settings: PostgresSettings; log: Log; onLine?: Log | undefined },
): Promise<{ child: Child } | { portInUse: boolean; text: string }> {
  const child = await startChild({
    command: join(programs.nativeDir, "bin/postgres"),
    args: ["-D", clusterArgument(cluster, account), "-p", String(port), ...settingArguments(settings)],
    cwd: cluster,
    env: serverEnvironment(),
    account,
    onLine,
    stopSignals: postgresStop,
  });
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  const slow = setTimeout(() => log("PostgreSQL is still starting (it recovers after a crash)"), slowStartMs);
  const outcome = await pollUntil(
    async () => (ended ? "ended" : (await isReady(cluster, child.pid)) ? "ready" : undefined),
    { everyMs: readyPollMs, timeoutMs: readyTimeoutMs },
  );
  clearTimeout(slow);
  if (outcome === "ready") return { child };
  if (outcome === undefined) {
    await child.stop();
    throw startError(`PostgreSQL in ${cluster} was not ready after ${readyTimeoutMs / 60_000} minutes`);
  }
  return explainPostgres(child.lastLines(), cluster);
}

/** Reads whether the server is ready: its process id is in the first line of this file and its state in the eighth. */
async function isReady(cluster: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}

/** Why a server did not start: whether only the port was in use, and one line for a person. */
export type PostgresFailure = { portInUse: boolean; text: string };

/** Finds the reason in the lines that initdb or the server printed (in the C locale). Pure. */
export function explainPostgres(lines: readonly string[], folder: string): PostgresFailure {
  const output = lines.join("\n");
  const text = (line: string): PostgresFailure => ({ portInUse: false, text: line });
  // A full disk comes first, because other errors follow from it.
  if (explainFailure(output) === "the disk is full") return text(`the disk with ${folder} is full`);
  if (/Address already in use/i.test(output)) return { portInUse: true, text: "the port is in use by another program" };
  const owner = /lock file "postmaster\.pid" already exists[\s\S]*\(PID (\d+)\)/.exec(output)?.[1];
  if (owner !== undefined) return text(`another PostgreSQL (process ${owner}) is using ${folder}`);
  const fault = lines.find((line) => /\b(FATAL|PANIC|error|could not)\b/i.test(line)) ?? lines.at(-1);
  return text(
    `PostgreSQL did not start: ${fault?.replace(/^(\w+: )?(FATAL|PANIC|error):\s+/i, "") ?? "it said nothing"}`,
  );
}

/**
 * Prepares a cluster for a new server. Ends a server that a killed Tidemark left running. Removes the lock file of a server
 * that has ended if another program has its process id now (common after a power failure), because the new server would
 * take that program for a running server. Keeps a lock file whose process does not exist: the new server removes it after
 * it has looked for survivors in shared memory.
 */
export async function clearLeftovers(cluster: string, log: Log): Promise<void> {
  await stopLeftovers(cluster, "postgres", postgresStop, log);
  const lockFile = join(cluster, "postmaster.pid");
  const text = await readFile(lockFile, "utf8").catch(() => undefined);
  if (text !== undefined && isRunning(Number.parseInt(text, 10))) await rm(lockFile, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

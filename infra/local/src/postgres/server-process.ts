import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startError } from "@tidemark/toolcache";
import { freePort } from "../free-port.ts";
import type { Log } from "../log.ts";
import { pollUntil } from "../poll-until.ts";
import { type Child, type StopStep, startChild } from "../start-child.ts";
import type { Account } from "./account.ts";
import { explainPostgres } from "./explain-postgres.ts";
import type { PostgresPrograms } from "./obtain-postgres.ts";
import { type PostgresSettings, settingArguments } from "./settings.ts";

/** Fast shutdown (disconnects clients, writes everything), then the immediate one (the next start recovers), then force. */
export const postgresStop: readonly StopStep[] = [
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
 * Returns the name of the cluster for a program whose `cwd` is the cluster. Root starts the program as another account, which
 * may not enter the folders above (root's home folder, for example). The program is in the cluster's folder before the account
 * changes, and Linux names the current folder by a fixed path.
 */
export function clusterArgument(cluster: string, account: Account | undefined): string {
  return account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : cluster;
}

/** The environment of a server: without PG* variables of a person's shell, with messages in English for explainPostgres. */
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
    // Another program may have taken the free port since.
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

/** The server keeps its process id in the first line of this file and its state in the eighth. */
async function isReady(cluster: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}

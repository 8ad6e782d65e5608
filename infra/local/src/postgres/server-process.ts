import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { explainFailure, startError } from "../toolcache/failures.mjs";
import { freePort } from "../free-port.ts";
import { pollUntil } from "../poll-until.ts";
import { startChild, type Child, type Log, type StopStep } from "../start-child.ts";
import { stopLeftovers } from "../claim-folder.ts";
import type { Account } from "./account.ts";
import type { PostgresPrograms } from "./obtain-postgres.ts";

/** Fast shutdown (disconnects clients, writes everything), then the immediate one (the next start recovers), then force. */
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

/** Why a server did not start, as one line for a person; `portInUse` when only the port was the reason. */
export type PostgresFailure = { portInUse: boolean; text: string };

/** Finds the reason in the output of initdb or the server (in the C locale). Pure. */
export function explainPostgres(lines: readonly string[], folder: string): PostgresFailure {
  const output = lines.join("\n");
  const text = (line: string): PostgresFailure => ({ portInUse: false, text: line });
  // The full disk first: other failures follow from it.
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
 * Makes a cluster ready for a new server. It stops a server that a killed Tidemark left running. It also removes the lock file
 * of a server that has ended when another program now has its process id (common after a power cut): PostgreSQL would take
 * that program for a running server. A lock file whose process does not exist stays: PostgreSQL handles it, and also
 * looks for survivors in shared memory.
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

/** PostgreSQL settings by name, as in postgresql.conf. */
export type PostgresSettings = Readonly<Record<string, string | number | boolean>>;

/**
 * The settings of an embedded server: every acknowledged commit is on the disk, many small commits are cheap, one laptop is
 * enough, and a killed client does not hold its locks for long.
 */
export const embeddedSettings: PostgresSettings = {
  // Only this machine can connect, and only with the password.
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 200,
  cluster_name: "tidemark",

  fsync: true,
  synchronous_commit: true,
  full_page_writes: true,
  // lz4 would be cheaper, but the packaged servers are built without it.
  wal_compression: true,
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  // Its compile time is longer than any query here.
  jit: false,

  // A killed client's running statement would otherwise keep its locks until it ends.
  client_connection_check_interval: "1s",
  idle_in_transaction_session_timeout: "10s",

  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  log_checkpoints: false,
  // The client handles a refused statement, and its text may hold a user's data.
  log_min_messages: "log",
  log_min_error_statement: "panic",
};

/**
 * Settings as arguments of the server's command line, where no file in the data folder can override them. Pure.
 *
 * @throws Error for a text that is not the name of a setting
 */
export function settingArguments(settings: PostgresSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a setting`);
    return ["-c", `${name}=${typeof value === "boolean" ? (value ? "on" : "off") : value}`];
  });
}

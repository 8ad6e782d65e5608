import { chmod, lchown, lstat, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { findExecutable } from "../toolcache/find-programs.mjs";
import { runCaptured } from "../toolcache/run-captured.mjs";
import { startError } from "../toolcache/failures.mjs";
import type { Log } from "../start-child.ts";

/** A user of the operating system. */
export type Account = { uid: number; gid: number };

// In order. "postgres" is the name that every package of PostgreSQL uses, so a machine may have it already.
const candidates = ["postgres", "_postgres"];

/**
 * Returns the account that the server must run as, because PostgreSQL refuses to run as root. For root it is the account that
 * owns the cluster already, else a system account `postgres` (made if it is missing), else `nobody`. For other users it is
 * undefined: no change.
 *
 * @param cluster the cluster's folder; need not exist
 * @throws StartError when the cluster belongs to another user, or no account is available
 */
export async function serverAccount(cluster: string, log: Log, env: NodeJS.ProcessEnv): Promise<Account | undefined> {
  const owner = await lstat(cluster).catch(() => undefined);
  const uid = process.getuid?.();
  if (uid !== 0) {
    if (owner === undefined || owner.uid === uid) return undefined;
    throw startError(
      `the data folder ${cluster} belongs to another user (${owner.uid}): start Tidemark as that one, or choose another folder`,
    );
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const account = (await knownAccount(candidates)) ?? (await makeAccount(log, env)) ?? (await knownAccount(["nobody"]));
  if (account === undefined)
    throw startError("PostgreSQL refuses to run as root, and there is no other account to run it as");
  return account;
}

/** Returns the first of these names that a passwd file knows, and that is not root. Pure. */
export function findAccount(passwd: string, names: readonly string[]): Account | undefined {
  const lines = passwd.split("\n").map((line) => line.split(":"));
  return names
    .map((name) => lines.find(([user]) => user === name))
    .map((fields) => ({ uid: Number(fields?.[2]), gid: Number(fields?.[3]) }))
    .find(({ uid, gid }) => uid > 0 && gid >= 0);
}

/**
 * Gives a cluster to an account that does not own it yet: a data folder that root has copied belongs to root. The server also
 * refuses a folder that others can read.
 */
export async function giveCluster(cluster: string, account: Account | undefined): Promise<void> {
  const { uid } = await lstat(cluster);
  if (account !== undefined && uid !== account.uid) await giveTree(cluster, account);
  await chmod(cluster, 0o700);
}

async function giveTree(path: string, account: Account): Promise<void> {
  await lchown(path, account.uid, account.gid);
  if (!(await lstat(path)).isDirectory()) return;
  for (const entry of await readdir(path)) await giveTree(join(path, entry), account);
}

async function knownAccount(names: readonly string[]): Promise<Account | undefined> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  return findAccount(passwd, names);
}

async function makeAccount(log: Log, env: NodeJS.ProcessEnv): Promise<Account | undefined> {
  const useradd = findExecutable("useradd", `${env["PATH"] ?? ""}:/usr/sbin:/sbin`);
  if (useradd === undefined) return undefined;
  const options = [
    "--system",
    "--user-group",
    "--no-create-home",
    "--home-dir",
    "/nonexistent",
    "--shell",
    "/bin/false",
  ];
  const { code } = await runCaptured(useradd, [...options, "postgres"]);
  if (code !== 0) return undefined;
  log("Made the system account postgres: PostgreSQL refuses to run as root");
  return knownAccount(["postgres"]);
}

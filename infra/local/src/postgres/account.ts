import {
  chmod,
  lchown,
  lstat,
  readFile,
  readdir,
  cp,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { join, basename, dirname } from "node:path";
import { findExecutable, runCaptured } from "../toolcache/programs.mjs";
import { startError } from "../toolcache/failures.mjs";
import type { Log } from "../start-child.ts";
import { tmpdir } from "node:os";
import { withLock } from "../toolcache/lock.mjs";
import type { PostgresPrograms } from "./obtain-postgres.ts";

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

/**
 * Returns the same programs at a place where the server's account can read them. On most machines other accounts cannot enter
 * root's home folder, so they cannot read a work tree or a cache in it. The folders keep their modes; instead the programs
 * (60 MB) are copied, once per version, to a folder of root that all accounts may read.
 *
 * @param cacheDir tried first, then /var/cache/tidemark, then a folder in the system's temporary folder
 */
export async function readablePrograms(
  programs: PostgresPrograms,
  account: Account | undefined,
  cacheDir: string,
  log: Log,
): Promise<PostgresPrograms> {
  if (account === undefined || (await canRead(join(programs.nativeDir, "bin/postgres"), account))) return programs;
  const name = `postgres-${programs.version}-${process.platform}-${process.arch}`;
  for (const folder of [cacheDir, "/var/cache/tidemark", join(tmpdir(), "tidemark-cache")]) {
    const copies = join(folder, "readable");
    if (!(await offersReadable(folder, account)) || !(await makeOpenFolder(copies))) continue;
    // In a folder of another user, that user could replace the programs.
    if (!(await isRootsOwn(folder)) || !(await isRootsOwn(copies)) || !(await canRead(copies, account))) continue;
    const target = join(copies, name);
    await withLock(`${target}.lock`, async () => {
      if (await exists(target)) return;
      log("Copying PostgreSQL to where its account can read it (once)");
      await copyPrograms(programs.nativeDir, target);
    });
    return { ...programs, nativeDir: target };
  }
  throw new Error(`no folder in which account ${account.uid} could read PostgreSQL`);
}

async function copyPrograms(from: string, target: string): Promise<void> {
  for (const left of await readdir(dirname(target))) {
    if (left.startsWith(`${basename(target)}.partial-`)) await rm(join(dirname(target), left), { recursive: true });
  }
  const staged = await mkdtemp(`${target}.partial-`);
  try {
    await cp(from, staged, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith(".a") });
    await openTree(staged);
    await rename(staged, target);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function openTree(path: string): Promise<void> {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return;
  await chmod(path, info.mode | (info.isDirectory() || (info.mode & 0o100) !== 0 ? 0o555 : 0o444));
  if (info.isDirectory()) for (const entry of await readdir(path)) await openTree(join(path, entry));
}

/** Whether an account may read (and, for a program or folder, enter) a file, all folders above it included. */
async function canRead(path: string, account: Account): Promise<boolean> {
  const target = await realpath(path);
  if (!mayUse(await stat(target), account, 0o5)) return false;
  for (let folder = dirname(target); ; folder = dirname(folder)) {
    if (!mayUse(await stat(folder), account, 0o1)) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Whether a file's mode gives an account these rights (read 4, write 2, execute 1). Pure. */
export function mayUse(file: { uid: number; gid: number; mode: number }, account: Account, rights: number): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & rights) === rights;
}

/** Whether an account can reach a folder, which may not exist yet. */
async function offersReadable(folder: string, account: Account): Promise<boolean> {
  if (await exists(folder)) return canRead(folder, account);
  return offersReadable(dirname(folder), account);
}

async function makeOpenFolder(folder: string): Promise<boolean> {
  try {
    const first = await mkdir(folder, { recursive: true });
    // Against a umask that would close them. Existing folders keep their mode.
    for (let made = folder; first !== undefined && made.startsWith(first); made = dirname(made))
      await chmod(made, 0o755);
    return true;
  } catch {
    return false;
  }
}

async function isRootsOwn(folder: string): Promise<boolean> {
  const info = await lstat(folder);
  return info.isDirectory() && info.uid === 0 && (info.mode & 0o022) === 0;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

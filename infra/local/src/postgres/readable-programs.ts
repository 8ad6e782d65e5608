import { chmod, cp, lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { withLock } from "../toolcache/lock.mjs";
import type { Log } from "../start-child.ts";
import type { Account } from "./account.ts";
import type { PostgresPrograms } from "./obtain-postgres.ts";

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

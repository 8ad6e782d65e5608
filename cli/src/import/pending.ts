import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Content } from "../convert/artifact-lines.ts";
import type { SealedArchive } from "../convert/spool.ts";
import type { ImportCommand } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";

/** An archive that was made, with the bytes that it names; it may be half sent. */
export type Pending = { readonly archive: SealedArchive; readonly contents: readonly Content[] };

/** How long the server knows an archive by its key is a day; after that the same one would be stored again. */
const KNOWN_MS = 20 * 3600 * 1000;

/** Returns the folder in which an import keeps the data that it sends, until all of it is sent. */
export function pendingFolder(
  { stateFolder }: Surroundings,
  { server, from, project }: ImportCommand,
  root: string,
): string {
  const name = createHash("sha256")
    .update(JSON.stringify([server.url, server.key, root === "" ? from : root, project]))
    .digest("hex");
  return join(stateFolder, "imports", name.slice(0, 32));
}

/** Notes that an archive is whole, before it is sent. */
export async function keepPending(folder: string, pending: Pending): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "ready.tmp"), JSON.stringify(pending), { mode: 0o600 });
  await rename(join(folder, "ready.tmp"), join(folder, "ready.json"));
}

/** Returns the archive that an earlier start did not send completely; undefined if there is none that the server would still know. */
export async function readPending(folder: string, now: number): Promise<Pending | undefined> {
  const path = join(folder, "ready.json");
  try {
    if (now - (await stat(path)).mtimeMs > KNOWN_MS) return undefined;
    const pending = JSON.parse(await readFile(path, "utf8")) as Pending;
    return (await stat(pending.archive.path)).size === pending.archive.bytes ? pending : undefined;
  } catch {
    return undefined;
  }
}

/** Forgets an archive that is sent. */
export async function dropPending(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Blob, BlobEntry, ByteRange } from "./blob.ts";
import { measureBody } from "./bodies.ts";
import { isMissing, syncFolders } from "./files.ts";
import { createFolderParts, folderUploadShape } from "./folder-parts.ts";
import { guarded, unavailable, type BlobDriver } from "./guarded.ts";

// Starts with a dot, which no key does, and is on the same file system, so that renaming is atomic.
const unfinished = ".unfinished";
// Longer than any client uploads: a session of an upload in parts ends after an hour.
const staleMs = 24 * 3_600_000;
// Objects are read in pieces of this length: with the usual 64 KiB, half the work is the piece and not its bytes.
const readBytes = 256 * 1024;

/**
 * Creates an object store in a folder, for an installation on one machine. The folder is created if it is missing. An
 * object is written to another file, synced, and then renamed, so that after a crash it exists completely or not at
 * all. Content types are not kept.
 */
export function createFolderBlob(options: { readonly directory: string }): Blob {
  const root = options.directory;
  const fileOf = (key: string): string => join(root, ...key.split("/"));
  let prepared: Promise<void> | undefined;

  /** Creates the folder and deletes files and uploads in parts that crashes left behind. */
  function prepare(): Promise<void> {
    prepared ??= (async () => {
      const folder = join(root, unfinished);
      await mkdir(folder, { recursive: true });
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        if ((await lastChange(path)) < Date.now() - staleMs) await rm(path, { recursive: true, force: true });
      }
    })();
    prepared.catch(() => (prepared = undefined));
    return prepared;
  }

  /** Gives a file that was synced its final name. */
  async function publish(file: string, key: string): Promise<void> {
    const target = fileOf(key);
    const made = await mkdir(dirname(target), { recursive: true });
    await rename(file, target);
    await syncFolders(dirname(target), made === undefined ? dirname(target) : root);
  }

  const parts = createFolderParts({ unfinished: join(root, unfinished), prepare, publish });

  const driver: BlobDriver = {
    ...parts,
    kind: "folder",
    signed: undefined,

    async put(key, body, { size } = {}) {
      const measured = measureBody(body, size);
      const temporary = join(root, unfinished, randomUUID());
      try {
        await prepare();
        const file = await open(temporary, "wx");
        try {
          for await (const piece of measured.bytes) await file.writeFile(piece);
          await file.sync();
        } finally {
          await file.close();
        }
        await publish(temporary, key);
      } catch (error) {
        // Best effort: the cleaning of the folder also finds it, after a day.
        await unlink(temporary).catch(() => {});
        throw measured.fault() ?? unavailable(error);
      }
      const { sizeBytes, sha256 } = measured.result();
      return { sizeBytes, sha256, etag: sha256 };
    },

    async get(key, range) {
      const entry = await driver.head(key);
      return entry && { sizeBytes: entry.sizeBytes, body: readFile(fileOf(key), range) };
    },

    async head(key) {
      try {
        const { size, mtime } = await stat(fileOf(key));
        return { key, sizeBytes: size, modifiedAt: mtime };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw unavailable(error);
      }
    },

    async remove(key) {
      // First, so that nothing can be finished afterwards.
      await parts.endParts(key);
      try {
        await unlink(fileOf(key));
      } catch (error) {
        if (!isMissing(error)) throw unavailable(error);
      }
    },

    list: (prefix) => listFolder(root, "", prefix),

    async ready() {
      try {
        await prepare();
        await access(join(root, unfinished), constants.W_OK);
        return true;
      } catch {
        return false;
      }
    },
  };
  return guarded(driver, folderUploadShape);
}

/**
 * Returns when a file, or an upload in its folder, was last written to, in milliseconds since 1970. A file that is gone
 * meanwhile was removed by another process, and counts as new.
 */
async function lastChange(path: string): Promise<number> {
  const times = [path, join(path, "data"), join(path, "whole")].map(async (each) => (await stat(each)).mtimeMs);
  const [own = Infinity, ...inside] = await Promise.all(times.map((time) => time.catch(() => undefined)));
  return Math.max(own, ...inside.map((time) => time ?? 0));
}

/** Opens the file at the first read, so that an unread body does not keep it open. */
async function* readFile(path: string, range: ByteRange = { start: 0, end: Infinity }): AsyncGenerator<Uint8Array> {
  if (range.start === range.end) return;
  try {
    const file = await open(path, "r");
    yield* file.createReadStream({ start: range.start, end: range.end - 1, highWaterMark: readBytes });
  } catch (error) {
    throw unavailable(error);
  }
}

/** Lists in the order of the keys, as an object store does: a folder sorts as if its name ended in a slash. */
async function* listFolder(root: string, folder: string, prefix: string): AsyncGenerator<BlobEntry> {
  let entries;
  try {
    entries = await readdir(join(root, folder), { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return;
    throw unavailable(error);
  }
  const keys = entries
    .filter((entry) => !entry.name.startsWith("."))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .filter((key) => key.startsWith(prefix) || prefix.startsWith(key))
    .toSorted((a, b) => (a < b ? -1 : 1));
  for (const key of keys) {
    if (key.endsWith("/")) {
      yield* listFolder(root, key, prefix);
      continue;
    }
    // Files that were removed since the folder was read are not listed.
    const found = await stat(join(root, key)).catch(() => undefined);
    if (found && key.startsWith(prefix)) yield { key, sizeBytes: found.size, modifiedAt: found.mtime };
  }
}

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Blob, BlobEntry, ByteRange } from "./blob.ts";
import { guarded, unavailable } from "./guarded.ts";
import { measureBody } from "./bodies.ts";

// Starts with a dot, which no key does, and is on the same file system, so that renaming is atomic.
const unfinished = ".unfinished";
const staleMs = 24 * 3_600_000;

/**
 * Creates an object store in a folder, for an installation on one machine. The folder is created if it is missing. An
 * object is written to another file, synced, and then renamed, so that after a crash it exists completely or not at
 * all. Content types are not kept.
 */
export function createFolderBlob(options: { readonly directory: string }): Blob {
  const root = options.directory;
  const fileOf = (key: string): string => join(root, ...key.split("/"));
  let prepared: Promise<void> | undefined;

  /** Creates the folder and deletes files that crashes left behind. */
  function prepare(): Promise<void> {
    prepared ??= (async () => {
      const folder = join(root, unfinished);
      await mkdir(folder, { recursive: true });
      for (const name of await readdir(folder)) {
        const file = join(folder, name);
        const { mtimeMs } = await stat(file);
        if (mtimeMs < Date.now() - staleMs) await unlink(file);
      }
    })();
    prepared.catch(() => (prepared = undefined));
    return prepared;
  }

  const driver: Blob = {
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
        const target = fileOf(key);
        const made = await mkdir(dirname(target), { recursive: true });
        await rename(temporary, target);
        await syncFolders(dirname(target), made === undefined ? dirname(target) : root);
      } catch (error) {
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
  return guarded(driver);
}

/** Opens the file at the first read, so that an unread body does not keep it open. */
async function* readFile(path: string, range: ByteRange = { start: 0, end: Infinity }): AsyncGenerator<Uint8Array> {
  if (range.start === range.end) return;
  try {
    const file = await open(path, "r");
    yield* file.createReadStream({ start: range.start, end: range.end - 1 });
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

/** Makes names durable: a renamed file survives a power loss only if its folder was synced too. */
async function syncFolders(from: string, to: string): Promise<void> {
  for (let folder = from; ; folder = dirname(folder)) {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === to || folder === dirname(folder)) return;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

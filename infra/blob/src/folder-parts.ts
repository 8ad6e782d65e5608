import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isAppError } from "@tidemark/errors";
import type { Blob } from "./blob.ts";
import { countBody, measureBody, type CountedBody } from "./bodies.ts";
import { isMissing, syncFolders, readNotes, removeNote, writeNote } from "./files.ts";
import { unavailable } from "./guarded.ts";
import { checkParts, formatUploadId, parseUploadId, uploadEnded } from "./upload-parts.rules.ts";

/** The id that this driver passes to `formatUploadId`: a random UUID. */
export const folderUploadShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// Bytes are handed to the file system in pieces of about this length.
const batchBytes = 1024 ** 2;

type FolderParts = Pick<Blob, "beginParts" | "putPart" | "listParts" | "finishParts" | "endParts">;

/**
 * Keeps each upload in parts in a folder, `<unfinished>/<key with dots>.<upload id>/`, of these files:
 *
 * - `data`: the bytes, each part at its place. The upload lives as long as this file, or `whole`, is there.
 * - `whole`: the name of `data` while `finishParts` checks whether it is complete.
 * - `<n>`: a note that part n has arrived, with its length and its ETag: the SHA-256 of part 1, a random one of the others. It is written and synced after the bytes, and is
 *   gone, durably, before the first byte of the part is written again.
 *
 * So a crash leaves either an upload with the parts that have notes, or the finished object.
 *
 * Within a process, writes of one part take turns, and so do `finishParts` and batches of bytes of one upload.
 *
 * Between processes that share the folder there are no turns. `finishParts` renames the data and
 * then looks at the notes, while `putPart` removes the note and then opens the data by name, for each batch: one of the
 * two notices the other. Only a batch of a part that `finishParts` was not called with can arrive late, after the end of the
 * object. Two processes that write different bytes as the same part at the same time mix them, which the SHA-256 of the
 * whole object shows.
 */
export function createFolderParts(options: {
  readonly unfinished: string;
  /** Makes the folder `unfinished`. */
  readonly prepare: () => Promise<void>;
  /** Makes the folders of a key and gives a file its name there, durably. */
  readonly publish: (file: string, key: string) => Promise<void>;
}): FolderParts {
  const { prepare, publish } = options;
  const unfinished = resolve(options.unfinished);
  const prefixOf = (key: string): string => `${key.replaceAll("/", ".")}.`;
  const uploadOf = (key: string, uploadId: string): string => join(unfinished, prefixOf(key) + uploadId);

  return {
    async beginParts(key, { partBytes }) {
      const uploadId = formatUploadId(partBytes, randomUUID());
      const folder = uploadOf(key, uploadId);
      try {
        await prepare();
        await mkdir(folder, { recursive: true });
        await (await open(join(folder, "data"), "wx")).close();
        await syncFolders(folder, unfinished);
        return uploadId;
      } catch (error) {
        // Best effort: the cleaning of the folder also finds it, after a day.
        await rm(folder, { recursive: true, force: true }).catch(() => {});
        throw unavailable(error);
      }
    },

    putPart(key, uploadId, partNumber, body, { size }) {
      const folder = uploadOf(key, uploadId);
      return inTurn(join(folder, String(partNumber)), async () => {
        // The hash of an upload's only part is that of the object, which need not be read for it.
        const measured = partNumber === 1 ? measureBody(body, size) : undefined;
        const counted = measured ?? countBody(body, size);
        const at = (partNumber - 1) * partBytesOf(uploadId);
        try {
          await removeNote(folder, partNumber);
          await writeAt(folder, counted, at);
          const etag = measured?.result().sha256 ?? randomUUID().replaceAll("-", "");
          await writeNote(folder, { partNumber, sizeBytes: size, etag });
          return { etag };
        } catch (error) {
          throw counted.fault() ?? failed(error);
        }
      });
    },

    async listParts(key, uploadId) {
      const folder = uploadOf(key, uploadId);
      try {
        // Twice, because `finishParts` may rename it meanwhile, back and forth.
        const alive = async (): Promise<boolean> =>
          (await isThere(join(folder, "data"))) || isThere(join(folder, "whole"));
        return (await alive()) || (await alive()) ? await readNotes(folder) : undefined;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw unavailable(error);
      }
    },

    finishParts(key, uploadId, parts) {
      const folder = uploadOf(key, uploadId);
      const [data, whole] = [join(folder, "data"), join(folder, "whole")];
      return inTurn(folder, async () => {
        try {
          // After a crash, the data may have that name already.
          await rename(data, whole).catch(async () => stat(whole));
          const arrived = await readNotes(folder);
          const sizeBytes = checkParts(parts, arrived, partBytesOf(uploadId));
          const { size } = await stat(whole);
          if (size < sizeBytes) throw new Error("the data are shorter than their notes say");
          // Parts after the last named one are removed, their notes first.
          for (const { partNumber } of arrived.slice(parts.length)) await removeNote(folder, partNumber);
          if (size > sizeBytes) await cutOff(whole, sizeBytes);
          await publish(whole, key);
          // The object is complete; the cleaning of the folder also finds what is left, after a day.
          await discard(folder).catch(() => {});
          const [only] = parts;
          return { sizeBytes, ...(only !== undefined && parts.length === 1 && { sha256: only.etag }) };
        } catch (error) {
          // Fails when the data are not there any more: published, or taken back by another process.
          await rename(whole, data).catch(() => {});
          // If the data are there nonetheless, another process took them back to write a part.
          const taken = isMissing(error) && (await isThere(data).catch(() => true));
          throw taken ? unavailable(error) : failed(error);
        }
      });
    },

    async endParts(key) {
      try {
        const names = await readdir(unfinished);
        for (const name of names) if (name.startsWith(prefixOf(key))) await discard(join(unfinished, name));
      } catch (error) {
        if (!isMissing(error)) throw unavailable(error);
      }
    },
  };

  /** Renames a folder, which ends the uploads in it immediately, and then deletes it. */
  async function discard(folder: string): Promise<void> {
    const away = join(unfinished, randomUUID());
    try {
      await rename(folder, away);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    // Best effort: the cleaning of the folder also finds it, after a day.
    await rm(away, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

function partBytesOf(uploadId: string): number {
  return parseUploadId(uploadId)?.partBytes ?? 0;
}

function failed(error: unknown): Error {
  if (isAppError(error)) return error;
  return isMissing(error) ? uploadEnded(error) : unavailable(error);
}

async function isThere(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

const turns = new Map<string, Promise<unknown>>();

/** Runs `work` after everything else that was called with this name in this process. */
async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const previous = turns.get(name);
  const mine = (previous ?? Promise.resolve()).then(work, work);
  turns.set(name, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(name) === mine) turns.delete(name);
  }
}

/** Writes a body into `data`, beginning at `at`, and syncs it. */
async function writeAt(folder: string, body: CountedBody, at: number): Promise<void> {
  let batch: Uint8Array[] = [];
  let length = 0;
  let position = at;
  const flush = (): Promise<void> =>
    inTurn(folder, async () => {
      const file = await openData(folder);
      try {
        position = await writeAll(file, batch, position);
      } finally {
        await file.close();
      }
      batch = [];
      length = 0;
    });
  // So that an upload that has ended is noticed before the body is read.
  await flush();
  for await (const piece of body.bytes) {
    batch.push(piece);
    length += piece.byteLength;
    if (length >= batchBytes) await flush();
  }
  await flush();
  const file = await inTurn(folder, () => openData(folder));
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Writes pieces one after the other, usually with one call of the system, and returns where they end. */
async function writeAll(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<number> {
  let at = position;
  for (const rest = [...pieces]; rest.length > 0;) {
    let { bytesWritten } = await file.writev(rest, at);
    at += bytesWritten;
    while (rest[0] !== undefined && bytesWritten >= rest[0].byteLength) bytesWritten -= rest.shift()!.byteLength;
    if (rest[0] !== undefined) rest[0] = rest[0].subarray(bytesWritten);
  }
  return at;
}

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Opens `data`, which may still have the name that a broken `finishParts` gave it. */
async function openData(folder: string): Promise<FileHandle> {
  const data = join(folder, "data");
  return open(data, "r+").catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await rename(join(folder, "whole"), data);
    return open(data, "r+");
  });
}

async function cutOff(file: string, sizeBytes: number): Promise<void> {
  await truncate(file, sizeBytes);
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

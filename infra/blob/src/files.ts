import { open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";
import type { BlobPart } from "./blob.ts";

/** Makes names durable: a renamed file survives a power loss only if its folder was synced too. */
export async function syncFolders(from: string, to: string): Promise<void> {
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

/** Returns whether a file operation failed because a name is not there. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

// Notes that are read simultaneously.
const notesAtOnce = 64;

/** Removes the note of a part, if there is one, durably. */
export async function removeNote(folder: string, partNumber: number): Promise<void> {
  try {
    await unlink(join(folder, String(partNumber)));
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  await syncFolders(folder, folder);
}

/** Writes the note of a part, whose bytes have been synced. */
export async function writeNote(folder: string, { partNumber, sizeBytes, etag }: BlobPart): Promise<void> {
  const note = join(folder, String(partNumber));
  const temporary = `${note}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(`${sizeBytes} ${etag}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, note);
    await syncFolders(folder, folder);
  } catch (error) {
    // Best effort: it is removed with the folder of the upload.
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/** Reads the notes of an upload, by part. Throws if its folder is not there. */
export async function readNotes(folder: string): Promise<readonly BlobPart[]> {
  const numbers = (await readdir(folder)).filter((name) => /^\d+$/.test(name)).map(Number);
  numbers.sort((a, b) => a - b);
  const parts: BlobPart[] = [];
  for (let from = 0; from < numbers.length; from += notesAtOnce) {
    const some = await Promise.all(numbers.slice(from, from + notesAtOnce).map((number) => readNote(folder, number)));
    parts.push(...some.filter((part) => part !== undefined));
  }
  return parts;
}

async function readNote(folder: string, partNumber: number): Promise<BlobPart | undefined> {
  try {
    const [size, etag = ""] = (await readFile(join(folder, String(partNumber)), "utf8")).trim().split(" ");
    return { partNumber, sizeBytes: Number(size), etag };
  } catch (error) {
    // The part is being written again.
    if (isMissing(error)) return undefined;
    throw error;
  }
}

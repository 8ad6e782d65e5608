import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

/** The parts of an archive in order: data of runs is grouped by kind, so that consecutive lines can be written together. */
const PARTS = ["artifacts", "points", "lines", "attributes", "objects"] as const;

/** One of them. */
export type Part = (typeof PARTS)[number];

/** An archive that is being written. */
export type Spool = {
  readonly append: (part: Part, lines: string) => Promise<void>;
  /** Keeps bytes that are in no file of the source, and returns where. */
  readonly keep: (sha256: string, bytes: Uint8Array) => Promise<string>;
  /** Writes the archive: the head, the parts and the end. Returns its SHA-256, its bytes and where it is. */
  readonly seal: (head: Iterable<string>, end: string) => Promise<SealedArchive>;
};

/** A whole archive. */
export type SealedArchive = { readonly path: string; readonly bytes: number; readonly sha256: string };

const BUFFERED_CHARACTERS = 1 << 20;

/** Creates a spool in a folder, which it makes. What was there before is lost. */
export async function createSpool(folder: string): Promise<Spool> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "bytes"), { recursive: true, mode: 0o700 });
  const writers = new Map<Part, Writer>();
  for (const part of PARTS) writers.set(part, await openWriter(join(folder, `${part}.part`)));
  const path = join(folder, "archive.ndjson");
  return {
    append: (part, lines) => writers.get(part)!.write(lines),
    async keep(sha256, bytes) {
      const file = join(folder, "bytes", sha256);
      await writeFile(file, bytes);
      return file;
    },
    async seal(head, end) {
      const hash = createHash("sha256");
      const archive = await openWriter(path, hash);
      for (const line of head) await archive.write(line);
      for (const [part, writer] of writers) {
        await writer.close();
        const file = join(folder, `${part}.part`);
        for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }))
          await archive.raw(chunk as Buffer);
        await rm(file);
      }
      await archive.write(end);
      const bytes = await archive.close();
      return { path, bytes, sha256: hash.digest("hex") };
    },
  };
}

/** A spool that keeps nothing. */
export const nullSpool: Spool = {
  append: () => Promise.resolve(),
  keep: () => Promise.resolve(""),
  seal: () => Promise.resolve({ path: "", bytes: 0, sha256: "" }),
};

type Writer = {
  readonly write: (text: string) => Promise<void>;
  readonly raw: (bytes: Buffer) => Promise<void>;
  /** Returns the bytes that were written. */
  readonly close: () => Promise<number>;
};

async function openWriter(path: string, hash?: Hash): Promise<Writer> {
  const file: FileHandle = await open(path, "w", 0o600);
  let [buffered, bytes] = ["", 0];
  const put = async (chunk: Buffer): Promise<void> => {
    hash?.update(chunk);
    bytes += chunk.length;
    await file.appendFile(chunk);
  };
  const flush = async (): Promise<void> => {
    if (buffered === "") return;
    const chunk = Buffer.from(buffered);
    buffered = "";
    await put(chunk);
  };
  return {
    async write(text) {
      buffered += text;
      if (buffered.length >= BUFFERED_CHARACTERS) await flush();
    },
    async raw(chunk) {
      await flush();
      await put(chunk);
    },
    async close() {
      await flush();
      await file.close();
      return bytes;
    },
  };
}

import { randomUUID } from "node:crypto";
import { mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Which bytes: from `start` up to but not including `end`, counted from 0. */
export type Span = { readonly start: number; readonly end: number };

/** Bytes that one writer appends and others read meanwhile, each at its own pace. */
export type SpoolFile = {
  /** Appends bytes; they must not change until it resolves. One call at a time. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  /** Ends the file: all bytes are there, or it failed. Only the first call counts. */
  readonly end: (failure?: Error) => void;
  readonly sizeBytes: () => number;
  /** Resolves to the length when everything is there. @throws the failure */
  readonly whole: () => Promise<number>;
  /** Reads bytes in pieces, and waits for those that have not arrived yet. @throws the failure, even if bytes before it were not read yet */
  readonly read: (span: Span) => AsyncGenerator<Uint8Array, void, undefined>;
  /** Gives the disk space back. No reader may be active. */
  readonly close: () => Promise<void>;
};

/** Bytes that are read together. */
const READ_BYTES = 256 * 1024;

/**
 * Opens an empty file in a folder, which is made when it is missing. The file has no name: whenever its process ends, in any way, the system
 * frees the space, and no other process can open it.
 */
export async function openSpoolFile(directory: string): Promise<SpoolFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, randomUUID());
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  let sizeBytes = 0;
  let ended: { readonly failure: Error | undefined } | undefined;
  let change = Promise.withResolvers<void>();
  const tell = (): void => {
    const { resolve } = change;
    change = Promise.withResolvers<void>();
    resolve();
  };

  return {
    async append(bytes) {
      await file.writeFile(bytes);
      sizeBytes += bytes.length;
      tell();
    },
    end(failure) {
      ended ??= { failure };
      tell();
    },
    sizeBytes: () => sizeBytes,
    async whole() {
      while (ended === undefined) await change.promise;
      if (ended.failure !== undefined) throw ended.failure;
      return sizeBytes;
    },
    async *read({ start, end }) {
      for (let at = start; at < end;) {
        if (ended?.failure !== undefined) throw ended.failure;
        const left = Math.min(end, sizeBytes) - at;
        if (left > 0) {
          const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, left));
          const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
          at += bytesRead;
          yield buffer.subarray(0, bytesRead);
        } else if (ended === undefined) await change.promise;
        else return;
      }
    },
    close: () => file.close(),
  };
}

/** Joins pieces until they have `bytesMin` together; the last piece has the rest. None is empty. */
export async function* gather(
  pieces: AsyncIterable<Uint8Array>,
  bytesMin: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const take = (): Uint8Array => {
    const joined = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
    return joined;
  };
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes >= bytesMin) yield take();
  }
  if (bytes > 0) yield take();
}

import { createHash, randomBytes } from "node:crypto";
import { watchBuffers } from "@tidemark/testkit";

export const MiB = 1024 ** 2;
/** Returns the UTF-8 bytes of a text. */
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Returns the SHA-256 of bytes one after another, in hexadecimal digits. */
export const sha256 = (...parts: readonly Uint8Array[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

/** Makes a body of these pieces. */
export async function* streamOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield piece;
}

/** Reads a body to its end. */
export async function collect(body: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body ?? []) parts.push(part);
  return Buffer.concat(parts);
}

/** A body that no driver may hold whole: twice what it may hold of one. */
export const LARGE_BYTES = 64 * MiB;

/** Makes a body of new pieces of 1 MiB, and counts how many of its bytes were held when another piece was requested. */
export function countedSource(length: number): {
  readonly source: () => AsyncGenerator<Uint8Array>;
  readonly mostHeld: () => number;
} {
  const piece = randomBytes(MiB);
  const sent = watchBuffers();
  let most = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < length / MiB; i++) {
      if (i % 8 === 0) most = Math.max(most, await sent.bytes());
      // A new buffer each time, so that held bytes are counted.
      const next = Uint8Array.from(piece);
      sent.add(next);
      yield next;
    }
  }
  return { source, mostHeld: () => most };
}

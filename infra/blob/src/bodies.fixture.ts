import { createHash } from "node:crypto";

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

import { createHash } from "node:crypto";
import { AppError } from "@tidemark/errors";

/** A body that is counted and hashed while it passes. */
export type MeasuredBody = {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Length and SHA-256 of what has passed; meant to be asked once, at the end. */
  readonly result: () => { readonly sizeBytes: number; readonly sha256: string };
  /** What the body itself threw, or the fault of its length: tells them from faults of the store. */
  readonly fault: () => Error | undefined;
};

// Hashing one piece of this length takes about a millisecond; other requests get their turn in between.
const pieceBytes = 1024 * 1024;

/**
 * Wraps a body. The result throws `bad_request` as soon as the body is longer than `size`, or at its end when it is
 * shorter.
 */
export function measureBody(body: Uint8Array | AsyncIterable<Uint8Array>, size?: number): MeasuredBody {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let fault: Error | undefined;

  async function* pass(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body instanceof Uint8Array ? [body] : body) {
        for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
          const piece = chunk.subarray(at, at + pieceBytes);
          sizeBytes += piece.byteLength;
          if (size !== undefined && sizeBytes > size) throw wrongSize(size);
          hash.update(piece);
          yield piece;
        }
      }
      if (size !== undefined && sizeBytes < size) throw wrongSize(size);
    } catch (error) {
      fault = error as Error;
      throw error;
    }
  }

  return { bytes: pass(), result: () => ({ sizeBytes, sha256: hash.digest("hex") }), fault: () => fault };
}

function wrongSize(size: number): AppError {
  return new AppError("bad_request", `the body does not have the announced ${size} bytes`);
}

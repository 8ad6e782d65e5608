import { AppError } from "@tidemark/errors";

/** Counts the bytes of the bodies of all requests that are being received or served. */
export type BodyMemory = {
  /** Opens the account of one request. */
  readonly open: () => BodyAccount;
};

/** Counts the bytes that one request holds. */
export type BodyAccount = {
  /** Adds bytes that were received or decoded. @throws service_unavailable when the process would hold too many */
  readonly take: (bytes: number) => void;
  /** Gives everything back when the request has ended. */
  readonly close: () => void;
};

/** Smaller bodies are not counted: the number of connections bounds their sum. */
export const COUNTED_BYTES_MIN = 64 * 1024;

/**
 * Bounds the bytes of all bodies together: of many simultaneous large writes, those beyond the bound are asked to
 * come back later. A single request always fits, whatever its size.
 */
export function createBodyMemory(bytesMax: number): BodyMemory {
  let held = 0;
  return {
    open() {
      let own = 0;
      return {
        take(bytes) {
          if (held > own && held + bytes > bytesMax) {
            throw new AppError("service_unavailable", "too many large requests at once", { retryAfterSeconds: 1 });
          }
          own += bytes;
          held += bytes;
        },
        close() {
          held -= own;
          own = 0;
        },
      };
    },
  };
}

import { AppError } from "@tidemark/errors";

/** Bytes of the bodies that are being received or served, of all requests together. */
export type BodyMemory = {
  /** The account of one request. */
  readonly open: () => BodyAccount;
};

/** Bytes that one request holds. */
export type BodyAccount = {
  /** Adds bytes that have arrived or were decoded. @throws service_unavailable when that is more than the process may hold */
  readonly take: (bytes: number) => void;
  /** The request has ended: everything is given back. */
  readonly close: () => void;
};

/** Bodies below this are not counted: what they add up to is bounded by the number of connections. */
export const COUNTED_BYTES_MIN = 64 * 1024;

/**
 * Bounds what all bodies together take, so that many large writes at once are told to come back instead of growing the process. One request
 * alone always fits, whatever its size.
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

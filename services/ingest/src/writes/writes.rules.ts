/** Makes ids that ascend with time. */
export type IdSource = {
  /** Takes `count` consecutive ids for the caller and returns the first of them, which is a multiple of `step`. */
  readonly take: (count: number, step?: number) => number;
};

/** 2026-01-01T00:00:00Z. */
const FIRST_MS = Date.UTC(2026, 0, 1);
const SLOTS = 4096;

/**
 * Creates a source of ids below 2^53 (until the year 2095) that needs no counter in the database: an id is the milliseconds since 2026 times
 * 4,096, plus a slot. Ids ascend within one process, also when its clock steps back. Two processes can take the same millisecond and slot, so
 * an insert must be ready to ask again; a random first slot in each millisecond keeps that rare.
 * @param nowMs milliseconds since the Unix epoch
 * @param random a number from 0 up to 1
 */
export function createIdSource(nowMs: () => number, random: () => number): IdSource {
  let next = 0;
  return {
    take(count, step = 1) {
      const ms = (nowMs() - FIRST_MS) * SLOTS;
      // The upper half of the slots is left for the ids that follow within the millisecond.
      if (ms >= next) next = ms + Math.floor((random() * SLOTS) / 2);
      const first = Math.ceil(next / step) * step;
      next = first + count;
      return first;
    },
  };
}

/** Hashes of an idempotency key and of the request that was sent with it. */
export type IdempotencyHashes = { readonly key: Uint8Array; readonly body: Uint8Array };

/**
 * The outcome of a write: it was stored now (`inserted`), the same request stored it before (`replayed`), another request used the key
 * (`reused`), or the run does not exist for the caller (`not_found`). `projectId` is null when the run was known before the write.
 */
export type WriteOutcome =
  | { readonly outcome: "inserted" | "replayed"; readonly inserted: number; readonly projectId: string | null }
  | { readonly outcome: "reused" }
  | { readonly outcome: "not_found" };

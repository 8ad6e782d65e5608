import { isAppError } from "@tidemark/errors";
import { keyInProgress, sqlState } from "@tidemark/pg";

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

/** How often a write asks for other ids before it gives up. */
const ATTEMPTS_MAX = 4;

/**
 * Runs a write that takes its own ids, and runs it again when another process took one of them at the same moment. The writes are single
 * statements, so a failed one has left nothing behind.
 * @throws idempotency_in_progress when a request with the same key did not end in time
 */
export async function withFreshIds<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (sqlState(error) === "23505" && attempt < ATTEMPTS_MAX) continue;
      throw waitedForKey(error) ? keyInProgress() : error;
    }
  }
}

/** Returns whether the write waited too long for a lock, and the lock was that of an idempotency key. */
function waitedForKey(error: unknown): boolean {
  if (!isAppError(error) || sqlState(error.cause) !== "55P03") return false;
  const { where } = error.cause as { where?: unknown };
  return typeof where === "string" && where.includes("platform.claim_key");
}

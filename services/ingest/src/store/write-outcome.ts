import { isAppError } from "@tidemark/errors";
import { keyInProgress, sqlState } from "@tidemark/pg";

/** Hashes of an idempotency key and of what came with it. */
export type IdempotencyHashes = { readonly key: Uint8Array; readonly body: Uint8Array };

/**
 * What became of a write: stored now; stored before by the same request (`replayed`); the key was
 * used for another request (`reused`); or the caller may not know of the run. `projectId` is null
 * when the run was known already.
 */
export type WriteOutcome =
  | { readonly outcome: "inserted" | "replayed"; readonly inserted: number; readonly projectId: string | null }
  | { readonly outcome: "reused" }
  | { readonly outcome: "not_found" };

/** How often a write asks for other ids before it gives up. */
const ATTEMPTS_MAX = 4;

/**
 * Runs a write that makes its own ids, again when another process took one of them in the same
 * moment. The writes are single statements, so a failed one has left nothing behind.
 * @throws idempotency_in_progress when a request with the same key has not ended in time
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

/** A lock was waited for too long, and it was that of an idempotency key. */
function waitedForKey(error: unknown): boolean {
  if (!isAppError(error) || sqlState(error.cause) !== "55P03") return false;
  const { where } = error.cause as { where?: unknown };
  return typeof where === "string" && where.includes("platform.claim_key");
}

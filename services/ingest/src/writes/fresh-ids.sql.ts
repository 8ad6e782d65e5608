import { isAppError } from "@tidemark/errors";
import { keyInProgress, sqlState } from "@tidemark/pg";

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

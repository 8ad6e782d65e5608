import { badRequest } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";

/** Checks how many rows one request of a restore has. @throws bad_request for none, and for too many */
export function requireRows(rows: readonly unknown[]): void {
  if (rows.length < 1 || rows.length > RESTORE_LIMITS.idsTogetherMax) {
    throw badRequest(`1 to ${RESTORE_LIMITS.idsTogetherMax} rows may come together`);
  }
}

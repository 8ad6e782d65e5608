import { badRequest } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";

/** @throws bad_request for no rows, and for too many */
export function requireRows(rows: readonly unknown[]): void {
  if (rows.length < 1 || rows.length > RESTORE_LIMITS.idsTogetherMax)
    throw badRequest(`1 to ${RESTORE_LIMITS.idsTogetherMax} rows may come together`);
}

import { badRequest } from "@tidemark/errors";

/** Rows of a page of an account list when the request does not say. */
const ROWS_DEFAULT = 100;

/** Returns the page of a list that is counted from its start: 100 rows unless the request says, at most `max`, from `offset`. */
export function readPage(
  page: { readonly limit: number; readonly offset: bigint } | undefined,
  max: number,
): { limit: number; offset: number } {
  return { limit: Math.min(page?.limit || ROWS_DEFAULT, max), offset: Number(page?.offset ?? 0) };
}

/** Returns a page size that is within its bounds. @throws bad_request */
export function requireLimit(limit: number, max: number, field = "limit"): number {
  if (limit >= 1 && limit <= max) return limit;
  throw badRequest(`${field} must be a whole number from 1 to ${max}`, field);
}

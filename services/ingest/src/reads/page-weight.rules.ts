import { badRequest } from "@tidemark/errors";
import { PAGE_BYTES_MAX } from "@tidemark/limits";

/** Returns how many rows, of these bytes each, fit in a page: up to 16 MiB together unless specified otherwise, and at least the first one. */
export function countFitting(bytes: readonly number[], bytesMax = PAGE_BYTES_MAX): number {
  let sum = 0;
  const beyond = bytes.findIndex((weight) => (sum += weight) > bytesMax);
  return beyond === -1 ? bytes.length : Math.max(beyond, 1);
}

/** Refuses a page of a list without a cursor when its rows do not fit. @throws bad_request of `limit` */
export function refuseHeavyPage(bytes: readonly number[], what: string): void {
  const fitting = countFitting(bytes);
  if (fitting === bytes.length) return;
  throw badRequest(`these ${what} have more than 16 MiB; ask for at most ${fitting} at a time`, "limit");
}

import { badRequest } from "@tidemark/errors";

/** Most bytes of free-form documents in one page: what is beyond has to be asked for in smaller pages. */
export const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** So many runs fit whatever their documents are, as a document is at most 1,000,000 bytes. */
export const RUNS_ALWAYS_FIT = 60;

/** How many of the first runs fit into a page, 1 or more, given the bytes of each. */
export function runsThatFit(bytes: readonly number[]): number {
  let sum = 0;
  const over = bytes.findIndex((weight) => (sum += weight) > PAGE_BYTES_MAX);
  return over === -1 ? bytes.length : Math.max(1, over);
}

/** 400 of a list that could not say that it shows fewer runs than were asked for. */
export function pageTooHeavy(fitting: number): Error {
  return badRequest(
    `these runs have more than ${PAGE_BYTES_MAX / 1024 / 1024} MiB of documents; ask for at most ${fitting} at a time`,
    "limit",
  );
}

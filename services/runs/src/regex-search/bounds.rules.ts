import { AppError } from "@tidemark/errors";

/** Maximum bytes of text that expressions are searched in, in all runs that the rest of the query leaves. */
export const TEXT_BYTES_MAX = 128 * 1024 * 1024;

/** Longest that a search may take, in milliseconds. */
export const SEARCH_MS_MAX = 8000;

/** Returns the 400 for a search that would read too much text, or that did not end in time. */
export function tooBroad(): AppError {
  const bounds = `${TEXT_BYTES_MAX / 1024 / 1024} MiB of text, or for more than ${SEARCH_MS_MAX / 1000} seconds`;
  return new AppError("run_search_too_broad", `this search would have to read more than ${bounds}; add other terms`, {
    field: "q",
  });
}

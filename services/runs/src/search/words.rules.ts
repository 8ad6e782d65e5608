import { AppError } from "@tidemark/errors";
import { isStorable, lowerAscii } from "@tidemark/values/run-search";
import { FINDS_NOTHING, type SearchTree, type TextField } from "./tree.rules.ts";

/** Returns the node that finds a text in a field; its spaces and punctuation are literal. */
export function literal(field: TextField, text: string): SearchTree {
  return isStorable(text) ? { kind: "text", field, text: lowerAscii(text) } : FINDS_NOTHING;
}

/** Longest query, in bytes of the trimmed text as UTF-8 (API specification, Limits). */
export const QUERY_BYTES_MAX = 512;

/** Maximum number of terms in a query: words, phrases, field terms, filters and regular expressions (API specification, Limits). */
export const TERMS_MAX = 32;

/** Maximum number of nodes in a query: each term, each NOT, each list of ANDs and each list of ORs counts as one (API specification, Limits). */
export const NODES_MAX = 64;

/** Deepest nesting of a query: parentheses are one level, a NOT or `-` is one more (API specification, Limits). */
export const DEPTH_MAX = 8;

/** Maximum number of regular expressions in a query (API specification, Limits). */
export const REGEXES_MAX = 4;

/** Longest regular expression, in bytes of its pattern as UTF-8, after `\/` was read as `/` (API specification, Limits). */
export const REGEX_BYTES_MAX = 128;

/**
 * Returns the error of a complete query that breaks a rule. `position` is the 1-based column of the
 * faulty term, in code points of the trimmed query; 1 when the whole query is at fault.
 */
export function searchFault(what: string, position: number): AppError {
  const text = `Invalid run search: ${what} (column ${position}).`;
  return new AppError("run_search_invalid", text, { field: "q", position });
}

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

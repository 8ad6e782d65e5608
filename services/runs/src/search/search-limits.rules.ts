import { AppError } from "@tidemark/errors";

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

/** Shortest text after `id:`, in bytes as UTF-8; while it is shorter, the query counts as still being typed. */
export const ID_BYTES_MIN = 4;

/**
 * Returns the error of a complete query that breaks a rule. `position` is the 1-based column of the
 * faulty term, in code points of the trimmed query; 1 when the whole query is at fault.
 */
export function searchFault(what: string, position: number): AppError {
  const text = `Invalid run search: ${what} (column ${position}).`;
  return new AppError("run_search_invalid", text, { field: "q", position });
}

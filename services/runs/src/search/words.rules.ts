import { AppError } from "@tidemark/errors";
import { FINDS_NOTHING, type SearchTree, type TextField } from "./tree.rules.ts";

const WHITE_SPACE = /^\p{White_Space}$/u;

/**
 * Returns whether a character separates words: Unicode's property White_Space. Unlike for `\s` and
 * `String.prototype.trim`, U+0085 is a separator and U+FEFF is a character of a word.
 */
export function isWhiteSpace(char: string): boolean {
  return WHITE_SPACE.test(char);
}

/** Returns the text without the white space around it. */
export function trimWhiteSpace(text: string): string {
  // Every white space character is one UTF-16 unit.
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Returns the pieces between the white space of a trimmed text that is not empty. */
export function splitOnWhiteSpace(text: string): string[] {
  return text.split(/\p{White_Space}+/u);
}

/** Returns the text with its ASCII letters in lower case; all others stay, so that `K` (U+212A) is not `k`. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns whether PostgreSQL can store the text: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Returns the node that finds a text in a field; its spaces and punctuation are literal. */
export function literal(field: TextField, text: string): SearchTree {
  return isStorable(text) ? { kind: "text", field, text: lowerAscii(text) } : FINDS_NOTHING;
}

/** Returns whether an ASCII text is at an index of a query, given as its code points. */
export function startsWith(chars: readonly string[], at: number, text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (chars[at + i] !== text[i]) return false;
  return true;
}

/** Returns whether a word ends before this character: white space, a parenthesis, or the end of the query. */
export function endsWord(char: string | undefined): boolean {
  return char === undefined || char === "(" || char === ")" || isWhiteSpace(char);
}

/**
 * Reads a phrase up to its closing quote; `start` is the index after the opening one, `end` the one after the closing one. `\"` is a quote and `\\`
 * a backslash; any other backslash stays. Returns undefined without a closing quote.
 */
export function readPhrase(chars: readonly string[], start: number): { value: string; end: number } | undefined {
  let value = "";
  for (let at = start; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === '"') return { value, end: at + 1 };
    const next = chars[at + 1];
    if (char === "\\" && (next === '"' || next === "\\")) at += 1;
    value += chars[at];
  }
  return undefined;
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

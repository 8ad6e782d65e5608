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

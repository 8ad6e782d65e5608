import { FINDS_NOTHING, type SearchTree, type TextField } from "./tree.ts";

/** The text with its ASCII letters in lower case; all others stay, so `K` (U+212A) is no `k`. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether PostgreSQL can hold the text: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The node that finds a text in a field, its spaces and punctuation taken as they are. */
export function literal(field: TextField, text: string): SearchTree {
  return isStorable(text) ? { kind: "text", field, text: lowerAscii(text) } : FINDS_NOTHING;
}

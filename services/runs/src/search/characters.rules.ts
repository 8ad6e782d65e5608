import { isWhiteSpace } from "./words.rules.ts";

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

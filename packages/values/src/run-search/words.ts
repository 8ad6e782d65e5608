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

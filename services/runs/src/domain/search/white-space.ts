const WHITE_SPACE = /^\p{White_Space}$/u;

/**
 * Whether a character separates words: Unicode's property White_Space. Unlike `\s` and
 * `String.prototype.trim` it takes U+0085 for a separator, and U+FEFF for a character of a word.
 */
export function isWhiteSpace(char: string): boolean {
  return WHITE_SPACE.test(char);
}

/** The text without the white space around it. Every such character is one UTF-16 unit. */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** The pieces of a trimmed text that is not empty, between its white space. */
export function splitOnWhiteSpace(text: string): string[] {
  return text.split(/\p{White_Space}+/u);
}

import { startsWith, type TermToken } from "./token.ts";
import { isWhiteSpace } from "./white-space.ts";

/** How a regular expression begins. */
export const REGEX_START = "re:/";

/** What a term looks for; `end` is the place after it. */
export type Value = { readonly form: TermToken["form"]; readonly value: string; readonly end: number };

/**
 * Reads a phrase, a regular expression or a word. What follows a closing quote or slash is a term of
 * its own, even without white space between. Undefined when the value is incomplete: no closing quote
 * or slash, nothing between the slashes, or no word at this place.
 */
export function readValue(chars: readonly string[], at: number): Value | undefined {
  if (chars[at] === '"') return readPhrase(chars, at + 1);
  if (startsWith(chars, at, REGEX_START)) return readRegex(chars, at + REGEX_START.length);
  return readWord(chars, at);
}

/** Up to the closing quote. `\"` is a quote and `\\` a backslash; any other backslash stays. */
function readPhrase(chars: readonly string[], start: number): Value | undefined {
  let value = "";
  for (let at = start; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === '"') return { form: "phrase", value, end: at + 1 };
    const next = chars[at + 1];
    if (char === "\\" && (next === '"' || next === "\\")) at += 1;
    value += chars[at];
  }
  return undefined;
}

/** Up to the closing slash. `\/` is a slash; every other escape is the pattern's own and stays whole. */
function readRegex(chars: readonly string[], start: number): Value | undefined {
  let value = "";
  for (let at = start; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === "/") return value === "" ? undefined : { form: "regex", value, end: at + 1 };
    if (char === "\\") {
      at += 1;
      if (chars[at] !== "/") value += char;
    }
    value += chars[at] ?? "";
  }
  return undefined;
}

/** Up to white space or a parenthesis, so that a quote or a colon in it is a character like any other. */
function readWord(chars: readonly string[], start: number): Value | undefined {
  let end = start;
  for (let char = chars[end]; char !== undefined && !endsWord(char); char = chars[end]) end += 1;
  return end === start ? undefined : { form: "word", value: chars.slice(start, end).join(""), end };
}

function endsWord(char: string): boolean {
  return char === "(" || char === ")" || isWhiteSpace(char);
}

import { readValue, REGEX_START } from "./read-value.ts";
import { fieldAt, startsWith, type Token } from "./token.ts";
import { isWhiteSpace } from "./white-space.ts";

type Read = { readonly token: Token; readonly end: number };

const OPERATORS: ReadonlyMap<string, Token> = new Map([
  ["AND", { kind: "and" }],
  ["OR", { kind: "or" }],
  ["NOT", { kind: "not" }],
]);

/**
 * Cuts a trimmed query into its tokens, from left to right. Undefined when a term of it is
 * incomplete: a quote or a regular expression that does not end, an empty regular expression, or a
 * field with nothing directly after its colon.
 */
export function tokenize(text: string): readonly Token[] | undefined {
  const chars = Array.from(text);
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length;) {
    if (isWhiteSpace(chars[at] ?? "")) {
      at += 1;
      continue;
    }
    const read = readPunctuation(chars, at) ?? readTerm(chars, at);
    if (read === undefined) return undefined;
    tokens.push(read.token);
    at = read.end;
  }
  return tokens;
}

/** A parenthesis, or a `-` that excludes what follows. Any other `-` is the first character of a word. */
function readPunctuation(chars: readonly string[], at: number): Read | undefined {
  const end = at + 1;
  if (chars[at] === "(") return { token: { kind: "open" }, end };
  if (chars[at] === ")") return { token: { kind: "close" }, end };
  if (chars[at] === "-" && canBeExcluded(chars, end)) return { token: { kind: "not" }, end };
  return undefined;
}

function canBeExcluded(chars: readonly string[], at: number): boolean {
  return chars[at] === "(" || startsWith(chars, at, REGEX_START) || fieldAt(chars, at) !== undefined;
}

/** A term, or an operator: one of these words in upper case, with neither field nor quotes. */
function readTerm(chars: readonly string[], at: number): Read | undefined {
  const named = fieldAt(chars, at);
  const read = readValue(chars, named?.end ?? at);
  if (read === undefined) return undefined;
  const { form, value, end } = read;
  const operator = named === undefined && form === "word" ? OPERATORS.get(value) : undefined;
  return { token: operator ?? { kind: "term", form, field: named?.field ?? "all", value, column: at + 1 }, end };
}

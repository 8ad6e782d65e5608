import { numberOperand, readColumn, type Filter, type Comparison, type Operand } from "./column.ts";
import { endsWord, isWhiteSpace, readPhrase, startsWith, isStorable } from "./words.ts";

/** The field that a term searches. `all`: the summary text (project, name, tags, notes, status, id), the config and the metadata. */
export type SearchField = "all" | "name" | "project" | "notes" | "config" | "metadata" | "tag" | "status" | "id";

/** A term as it was written. `value` is the text between the quotes or slashes, or the word after the field. */
export type TermToken = {
  readonly kind: "term";
  readonly form: "word" | "phrase" | "regex";
  readonly field: SearchField;
  readonly value: string;
  /** Where the term starts, including its field: 1-based, in code points of the trimmed query. */
  readonly column: number;
};

/** A complete filter, which counts as a term. */
export type FilterToken = { readonly kind: "filter" } & Filter;

/** A piece of a query. `not` is also a `-` that excludes what follows. */
export type Token = TermToken | FilterToken | { readonly kind: "and" | "or" | "not" | "open" | "close" };

const FIELDS: readonly (readonly [prefix: string, field: SearchField])[] = [
  ["name:", "name"],
  ["project:", "project"],
  ["notes:", "notes"],
  ["config:", "config"],
  ["metadata:", "metadata"],
  ["tag:", "tag"],
  ["tags:", "tag"],
  ["status:", "status"],
  ["id:", "id"],
  ["all:", "all"],
];

/** Returns the field that is named at an index of the query, in lower case and with its colon. */
function fieldAt(chars: readonly string[], at: number): { field: SearchField; end: number } | undefined {
  for (const [prefix, field] of FIELDS) {
    if (startsWith(chars, at, prefix)) return { field, end: at + prefix.length };
  }
  return undefined;
}

type Read = { readonly token: Token; readonly end: number };

const OPERATORS: ReadonlyMap<string, Token> = new Map([
  ["AND", { kind: "and" }],
  ["OR", { kind: "or" }],
  ["NOT", { kind: "not" }],
]);

/** A token and where it is in the query, in code points; `end` is the index after it. */
export type Piece = { readonly token: Token; readonly at: number; readonly end: number };

/**
 * Splits a trimmed query into its tokens, from left to right. Returns undefined when a term is
 * incomplete: a quote or a regular expression without an end, an empty regular expression, or a
 * field with nothing directly after its colon.
 */
export function tokenize(text: string): readonly Token[] | undefined {
  const { pieces, faultAt } = readPieces(text);
  return faultAt === undefined ? pieces.map(({ token }) => token) : undefined;
}

/** Reads the tokens of a trimmed query up to the first incomplete term, which begins at the index `faultAt`; undefined: there is none. */
export function readPieces(text: string): { readonly pieces: readonly Piece[]; readonly faultAt: number | undefined } {
  const chars = Array.from(text);
  const pieces: Piece[] = [];
  for (let at = 0; at < chars.length;) {
    if (isWhiteSpace(chars[at] ?? "")) {
      at += 1;
      continue;
    }
    const read = readPunctuation(chars, at) ?? readTerm(chars, at);
    if (read === undefined) return { pieces, faultAt: at };
    pieces.push({ at, ...read });
    at = read.end;
  }
  return { pieces, faultAt: undefined };
}

/** Reads a parenthesis, or a `-` that excludes what follows. Any other `-` is the first character of a word. */
function readPunctuation(chars: readonly string[], at: number): Read | undefined {
  const end = at + 1;
  if (chars[at] === "(") return { token: { kind: "open" }, end };
  if (chars[at] === ")") return { token: { kind: "close" }, end };
  if (chars[at] === "-" && canBeExcluded(chars, end)) return { token: { kind: "not" }, end };
  return undefined;
}

function canBeExcluded(chars: readonly string[], at: number): boolean {
  if (chars[at] === "(" || startsWith(chars, at, REGEX_START) || fieldAt(chars, at) !== undefined) return true;
  return readFilter(chars, at) !== undefined;
}

/** Reads a filter, a term or an operator. An operator is a word in upper case, without field and quotes. */
function readTerm(chars: readonly string[], at: number): Read | undefined {
  const filtered = readFilter(chars, at);
  if (filtered !== undefined) return { token: { kind: "filter", ...filtered.filter }, end: filtered.end };
  const named = fieldAt(chars, at);
  const read = readValue(chars, named?.end ?? at);
  if (read === undefined) return undefined;
  const { form, value, end } = read;
  const operator = named === undefined && form === "word" ? OPERATORS.get(value) : undefined;
  return { token: operator ?? { kind: "term", form, field: named?.field ?? "all", value, column: at + 1 }, end };
}

/** How a regular expression starts. */
const REGEX_START = "re:/";

/** The value that a term searches for; `end` is the index after it. */
type Value = { readonly form: TermToken["form"]; readonly value: string; readonly end: number };

/**
 * Reads a phrase, a regular expression or a word. A new term starts after a closing quote or slash,
 * even without white space in between. Returns undefined when the value is incomplete: no closing quote
 * or slash, nothing between the slashes, or no word at this index.
 */
function readValue(chars: readonly string[], at: number): Value | undefined {
  if (chars[at] === '"') {
    const phrase = readPhrase(chars, at + 1);
    return phrase === undefined ? undefined : { form: "phrase", ...phrase };
  }
  if (startsWith(chars, at, REGEX_START)) return readRegex(chars, at + REGEX_START.length);
  return readWord(chars, at);
}

/** Reads up to the closing slash. `\/` is a slash; every other escape belongs to the pattern and stays. */
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

/** Reads up to white space or a parenthesis; a quote or a colon in a word is an ordinary character. */
function readWord(chars: readonly string[], start: number): Value | undefined {
  let end = start;
  while (!endsWord(chars[end])) end += 1;
  return end === start ? undefined : { form: "word", value: chars.slice(start, end).join(""), end };
}

const KINDS = ["config.", "metrics.", "attributes."];

/**
 * Reads the filter that starts at an index of a query, given as its code points; `end` is the index after it. Returns undefined without a complete
 * filter: text that only begins like one is an ordinary word.
 */
function readFilter(chars: readonly string[], at: number): { filter: Filter; end: number } | undefined {
  const kind = KINDS.find((text) => startsWith(chars, at, text));
  if (kind === undefined) return undefined;
  let end = at + kind.length;
  while (end < chars.length && comparisonAt(chars, end) === undefined) {
    if (endsWord(chars[end])) return undefined;
    end += 1;
  }
  const comparison = comparisonAt(chars, end);
  const column = readColumn(chars.slice(at, end).join(""));
  if (comparison === undefined || column === undefined) return undefined;
  const operand = readOperand(chars, end + comparison.length);
  if (operand === undefined || !endsWord(chars[operand.end])) return undefined;
  return { filter: { column, comparison, operand: operand.value }, end: operand.end };
}

// Two-character comparisons come before their prefixes.
const COMPARISONS: readonly Comparison[] = ["<=", ">=", "!=", "<", ">", "="];

function comparisonAt(chars: readonly string[], at: number): Comparison | undefined {
  return COMPARISONS.find((text) => startsWith(chars, at, text));
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function readOperand(chars: readonly string[], start: number): { value: Operand; end: number } | undefined {
  if (chars[start] === '"') {
    const phrase = readPhrase(chars, start + 1);
    return phrase === undefined || !isStorable(phrase.value) ? undefined : phrase;
  }
  let end = start;
  while (!endsWord(chars[end])) end += 1;
  const text = chars.slice(start, end).join("");
  return NUMBER.test(text) ? { value: numberOperand(text), end } : undefined;
}

import type { RegexField } from "./tree.ts";

/** What a term looks into. */
export type Field = RegexField | "id";

/** A term as it was written. `value` is what is between the quotes or slashes, or the word after the field. */
export type TermToken = {
  readonly kind: "term";
  readonly form: "word" | "phrase" | "regex";
  readonly field: Field;
  readonly value: string;
  /** Where the term begins, its field included: 1-based, in code points of the trimmed query. */
  readonly column: number;
};

/** A piece of a query. `not` is also a `-` that excludes what follows. */
export type Token = TermToken | { readonly kind: "and" | "or" | "not" | "open" | "close" };

const FIELDS: readonly (readonly [prefix: string, field: Field])[] = [
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

/** The field that is named at a place of the query, in lower case and with its colon. */
export function fieldAt(chars: readonly string[], at: number): { field: Field; end: number } | undefined {
  for (const [prefix, field] of FIELDS) {
    if (startsWith(chars, at, prefix)) return { field, end: at + prefix.length };
  }
  return undefined;
}

/** Whether a query, as its code points, goes on at a place with an ASCII text. */
export function startsWith(chars: readonly string[], at: number, text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (chars[at + i] !== text[i]) return false;
  return true;
}

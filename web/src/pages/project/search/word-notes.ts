import { DISPLAY_STATUSES } from "@tidemark/run-state";
import type { Column, Piece } from "@tidemark/values/run-search";
import { KIND, namesOf, nearColumn, type KnownKeys } from "./near-column.ts";
import { nearest } from "./nearest.ts";

/** The fields that words of a query can name. */
export const FIELDS: readonly string[] = [
  "name",
  "tag",
  "status",
  "notes",
  "config",
  "metadata",
  "project",
  "id",
  "all",
];

/** What is said of a word, and what to write in its place up to the index `end` (without it: the end of the word). */
export type WordNote = { readonly said: string; readonly better?: string | undefined; readonly end?: number };

/** Says what a piece of a complete query is taken for, where that may not be what was meant. `chars` are the code points of the query. */
export function wordNote(chars: readonly string[], piece: Piece, known: KnownKeys): WordNote | undefined {
  const { token, at, end } = piece;
  const written = chars.slice(at, end).join("");
  if (token.kind === "filter") return unknownKey(written, token.column, known);
  if (token.kind !== "term" || token.form === "regex") return undefined;
  if (token.field === "status") {
    const status = DISPLAY_STATUSES.some((one) => one === token.value)
      ? undefined
      : nearest(token.value, DISPLAY_STATUSES);
    return status === undefined
      ? undefined
      : { said: `${quoted(token.value)} is not a status.`, better: `status:${status}` };
  }
  if (token.form !== "word" || token.field !== "all" || written.startsWith("all:")) return undefined;
  const minus = written.startsWith("-") ? "-" : "";
  const note =
    spacedFilter(chars, piece) ??
    halfFilter(written.slice(minus.length), known) ??
    unknownField(written.slice(minus.length), known);
  if (note === undefined) return undefined;
  const { said, better, end: to } = note;
  return {
    said: `${quoted(written)} is searched as text. ${said}`,
    better: better && minus + better,
    ...(to === undefined ? {} : { end: to }),
  };
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const operandOf = (text: string): string =>
  NUMBER.test(text) || /^"[^"]*"$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

/** A filter with blanks around its operator. */
function spacedFilter(chars: readonly string[], { at, end }: Piece): WordNote | undefined {
  const word = chars.slice(at, end).join("").replace(/^-/, "");
  const rest = /^\s*(<=|>=|!=|<|>|=)\s*("[^"]*"|[^\s()"]+)/.exec(chars.slice(end).join(""));
  if (!KIND.test(word) || /[<>=]/.test(word) || rest === null) return undefined;
  return {
    said: "A filter cannot contain spaces.",
    better: word + rest[1]! + operandOf(rest[2]!),
    end: end + Array.from(rest[0]).length,
  };
}

/** A word with an operator, or with a kind of keys, that is not a filter. */
function halfFilter(word: string, known: KnownKeys): WordNote | undefined {
  const [, path, comparison, operand] = /^([\p{L}_][^<>=!]*)(<=|>=|!=|<|>|=)(.*)$/su.exec(word) ?? [];
  if (path === undefined || comparison === undefined || operand === undefined)
    return KIND.test(word) ? { said: "A filter compares a key, such as config.lr<0.1." } : undefined;
  if (operand === "") return { said: `A filter needs a number or a "text" after ${comparison}.` };
  const column = KIND.test(path) ? path : nearColumn(path, known);
  return {
    said: KIND.test(path)
      ? "A filter compares with a number or with text in quotes."
      : "The key of a filter begins with config., metrics. or attributes.",
    better: column && column + comparison + operandOf(operand),
  };
}

/** A word with a colon that does not begin with a field. Addresses of the web are left alone. */
function unknownField(word: string, known: KnownKeys): WordNote | undefined {
  const [, name, value] = /^([A-Za-z][\w./-]*):(?!\/\/)(.+)$/s.exec(word) ?? [];
  if (name === undefined || value === undefined) return undefined;
  if (name === "re") return { said: "A regular expression is written as re:/…/.", better: `re:/${value}/` };
  const kind = (["config", "attributes"] as const).find((one) => namesOf(one, known).includes(name));
  const field = nearest(name, FIELDS);
  return {
    said: `${name}: is not a field. Fields are ${FIELDS.map((one) => `${one}:`).join(", ")}.`,
    better: kind !== undefined ? `${kind}.${name}=${operandOf(value)}` : field && `${field}:${value}`,
  };
}

const NOUNS = { config: "config key", metrics: "metric", attributes: "attribute" } as const;

/** A filter on a key that no run has. */
function unknownKey(written: string, column: Column, known: KnownKeys): WordNote | undefined {
  const key = column.kind === "metrics" ? column.key : column.path;
  const isKnown = namesOf(column.kind, known).some((name) => name === key || name.startsWith(`${key}.`));
  if (!known.isAll || isKnown) return undefined;
  const name = /^[^<>=!]*/.exec(written)![0];
  const near = nearColumn(name, known);
  return {
    said: `No run has the ${NOUNS[column.kind]} ${quoted(key)}.`,
    better: near && near + written.slice(name.length),
  };
}

const quoted = (text: string): string => `“${text}”`;

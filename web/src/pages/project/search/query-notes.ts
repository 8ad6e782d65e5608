import {
  ID_BYTES_MIN,
  isComplete,
  readPieces,
  trimWhiteSpace,
  type Piece,
  type Token,
} from "@tidemark/values/run-search";
import type { KnownKeys } from "./near-column.ts";
import { FIELDS, wordNote } from "./word-notes.ts";

/** What a part of a query was taken for, where that may not be what its writer meant; `offer` is the query that was likely meant. */
export type QueryNote = { readonly text: string; readonly offer?: string | undefined };

/**
 * Says how the server reads a query (by the same rules) where that is easily missed: a query that is not complete, a word that looks like a field
 * or a filter and is searched as text, and a filter on a key that no run of the project has.
 */
export function queryNotes(query: string, known: KnownKeys): readonly QueryNote[] {
  const text = trimWhiteSpace(query);
  const { pieces, faultAt } = readPieces(text);
  const chars = Array.from(text);
  if (text === "") return [];
  if (faultAt !== undefined || !isComplete(tokensOf(pieces))) {
    const why = faultAt === undefined ? missing(pieces) : unfinished(chars.slice(faultAt).join(""));
    const offer = completions(text, pieces, faultAt).find(isWhole);
    return [{ text: `${why} Until then, the whole search is treated as text.`, offer }];
  }
  return pieces.flatMap((piece) => {
    const note = wordNote(chars, piece, known);
    if (note === undefined) return [];
    const { said, better, end = piece.end } = note;
    const around = [chars.slice(0, piece.at).join(""), chars.slice(end).join("")];
    return [{ text: said, offer: better === undefined ? undefined : around.join(better) }];
  });
}

const tokensOf = (pieces: readonly Piece[]): readonly Token[] => pieces.map(({ token }) => token);

function isWhole(text: string): boolean {
  const { pieces, faultAt } = readPieces(text);
  return text !== "" && faultAt === undefined && isComplete(tokensOf(pieces));
}

/** Says what a term lacks. */
function unfinished(term: string): string {
  if (term.includes('"')) return "A quote is not closed.";
  if (term.includes("re:/")) return "A regular expression needs a pattern and a closing /.";
  const field = [...FIELDS, "tags"].find((name) => term.replace(/^-/, "").startsWith(`${name}:`));
  return `${field}: needs a value directly after it.`;
}

/** Says what a query lacks whose terms are complete. */
function missing(pieces: readonly Piece[]): string {
  let open = 0;
  let isDue = true;
  let last = "";
  for (const { token } of pieces) {
    const { kind } = token;
    if ((kind === "and" || kind === "or") && isDue) return `${kind.toUpperCase()} needs something before it.`;
    if (kind === "close" && open === 0) return "A ) has no ( before it.";
    if (kind === "close" && isDue) return "There is nothing to search for before a ).";
    if (kind === "term" && !isComplete([token])) return `id: needs at least ${ID_BYTES_MIN} characters.`;
    open += kind === "open" ? 1 : kind === "close" ? -1 : 0;
    isDue = kind !== "term" && kind !== "filter" && kind !== "close";
    last = kind;
  }
  return isDue && last !== "open" ? `${last.toUpperCase()} needs something after it.` : "A ( is not closed.";
}

/** Returns texts that may be the complete query, the likeliest first. */
function completions(text: string, pieces: readonly Piece[], faultAt: number | undefined): readonly string[] {
  if (faultAt !== undefined) {
    const term = Array.from(text).slice(faultAt).join("");
    const ended = text + (term.includes('"') ? '"' : term.includes("re:/") ? "/" : "");
    return [ended, closed(ended)];
  }
  const end =
    pieces.findLast(({ token: { kind } }) => kind === "term" || kind === "filter" || kind === "close")?.end ?? 0;
  const cut = Array.from(text).slice(0, end).join("");
  return [closed(text), cut, closed(cut), trimWhiteSpace(text.replaceAll(/[()]/g, " "))];
}

/** Closes the open parentheses. */
function closed(text: string): string {
  const tokens = tokensOf(readPieces(text).pieces);
  const count = (kind: Token["kind"]): number => tokens.filter((token) => token.kind === kind).length;
  return text + ")".repeat(Math.max(0, count("open") - count("close")));
}

import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { LINE_BYTES_MAX } from "@tidemark/archive";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { checkLine } from "./check-row.rules.ts";
import { pack, type PlacedLine } from "./new-ids.rules.ts";
import { factsOf, isLineFault, linesOf, type PieceFacts } from "./piece-facts.rules.ts";

/** Most bytes of a piece, which is whole lines that follow on a mebibyte, so at most that and a line. */
export const PIECE_BYTES_MAX = RESTORE_LIMITS.pieceBytesMin + LINE_BYTES_MAX + 1;

/** A sent piece. `number` counts from 0, `firstLine` from 1. */
export type SentPiece = {
  readonly number: number;
  readonly firstLine: number;
  readonly data: Uint8Array;
  readonly isLast: boolean;
};

/** The stored data of a piece, and the facts that decide whether the archive ends with it. */
export type ReadPiece = {
  /** Line ends. */
  readonly lines: number;
  /** False for a last piece that was cut within its last line, whose facts are those of the preceding lines. */
  readonly isWhole: boolean;
  /** It has the end of the archive. */
  readonly hasEnd: boolean;
  /** It has only blank lines. */
  readonly isBlank: boolean;
  /** Packed {@link PieceFacts}. */
  readonly facts: Uint8Array;
  /** The compressed bytes. */
  readonly content: Uint8Array;
};

/** Reads a piece that was sent. Takes up to a second for the largest line. @throws LineFault */
export function readPiece(piece: SentPiece): ReadPiece {
  const { facts, isWhole } = wholeFactsOf(piece);
  return {
    lines: facts.lines,
    isWhole,
    hasEnd: facts.ends !== undefined,
    isBlank: facts.last === 0,
    facts: pack(facts),
    content: zstdCompressSync(piece.data),
  };
}

function wholeFactsOf(piece: SentPiece): { readonly facts: PieceFacts; readonly isWhole: boolean } {
  const { data, isLast } = piece;
  const end = data.lastIndexOf(0x0a) + 1;
  if (!isLast || end === data.length) return { facts: factsOf(data, piece, checkLine), isWhole: true };
  const whole = factsOf(data.subarray(0, end), piece, checkLine);
  try {
    const facts = factsOf(data, piece, checkLine);
    return { facts, isWhole: facts.ends !== undefined };
  } catch (error) {
    if (!isLineFault(error)) throw error;
    if (whole.ends !== undefined) throw error;
    return { facts: whole, isWhole: false };
  }
}

/** Returns the lines of a stored piece that are rows of a service. @throws LineFault */
export function rowsOfPiece(content: Uint8Array, firstLine: number): PlacedLine[] {
  const rows: PlacedLine[] = [];
  for (const { number, line } of linesOf(unpackPiece(content), firstLine)) {
    // Code that stores rows does not need the others, and a list of selected runs may be long.
    if (line !== undefined && line.line !== "export" && line.line !== "end") rows.push({ number, line });
  }
  return rows;
}

/** Returns the bytes of a stored piece. */
function unpackPiece(content: Uint8Array): Uint8Array {
  return zstdDecompressSync(content, { maxOutputLength: PIECE_BYTES_MAX });
}

import { csvCell } from "@tidemark/values/csv";
import { counted } from "../scene/numbers.ts";

/** The values that a picture draws, as a table: what people read in its place, and what its CSV file has. */
export type Sheet = { readonly head: readonly string[]; readonly rows: readonly (readonly SheetCell[])[] };

/** A value of a table; undefined where there is none. */
export type SheetCell = string | number | undefined;

/** Rows of the table that people read. */
const ROWS_MAX = 200;

/** Writes all rows with full digits, as RFC 4180 says. */
export function csvOfSheet({ head, rows }: Sheet): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** Returns the rows to read, evenly chosen with the first and the last among them, and a sentence on omitted ones. */
export function rowsToRead({ rows }: Sheet): { readonly rows: Sheet["rows"]; readonly left: string } {
  const every = Math.max(1, Math.ceil(rows.length / ROWS_MAX));
  if (every === 1) return { rows, left: "" };
  const shown = rows.filter((_, i) => i % every === 0 || i === rows.length - 1);
  return { rows: shown, left: `This shows ${shown.length} of ${counted(rows.length, "row")}. The CSV file has all.` };
}

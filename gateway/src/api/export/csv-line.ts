import { csvCell, type CsvValue } from "@tidemark/values/csv";

/** The columns of an export as CSV, in their order. */
export const CSV_COLUMNS = [
  "record_type",
  "org_id",
  "project_id",
  "run_id",
  "run_name",
  "run_status",
  "artifact_id",
  "attribute_id",
  "key",
  "path",
  "step",
  "value",
  "logged_at",
  "created_at",
  "row_index",
  "json",
] as const;

/** What the cells of a line hold, by column. */
export type CsvRow = { readonly [column in (typeof CSV_COLUMNS)[number]]?: CsvValue };

/** Writes a line with its LF. */
export function csvLine(row: CsvRow): string {
  let line = "";
  for (const column of CSV_COLUMNS)
    line += column === "record_type" ? csvCell(row[column]) : `,${csvCell(row[column])}`;
  return `${line}\n`;
}

/** The first line. */
export const CSV_HEADER = `${CSV_COLUMNS.join(",")}\n`;

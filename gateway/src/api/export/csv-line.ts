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

/** What a cell holds: a number, which is written unchanged, or a text; absent: nothing. */
export type CsvValue = string | number | NumberText | undefined;

/** The digits of a number as they were sent. */
export type NumberText = { readonly digits: string };

/** Spreadsheets take a cell that begins like this, perhaps after white space, for a formula. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@])/;
const QUOTED = /[",\r\n]/;

/**
 * Writes a cell (RFC 4180): a text that a spreadsheet might take for a formula gets an apostrophe in front; numbers never do. Text with a comma, a quote or
 * a line break is quoted.
 */
function csvCell(value: CsvValue): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return value.digits;
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? quoteCell(text) : text;
}

function quoteCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

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

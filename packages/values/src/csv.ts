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
export function csvCell(value: CsvValue): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return value.digits;
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? quoteCell(text) : text;
}

function quoteCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

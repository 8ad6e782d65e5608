/** The columns of an export as CSV. */
export const COLUMNS = [
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
];

/** Reads CSV by RFC 4180, with LF or CRLF behind each line. @throws Error for anything else */
export function readCsv(text: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/gy;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (found === null) throw new Error(`no CSV at ${at}: ${text.slice(at, at + 50)}`);
    const [, quoted, plain, end] = found;
    line.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    lines.push(line);
    line = [];
  }
  return lines;
}

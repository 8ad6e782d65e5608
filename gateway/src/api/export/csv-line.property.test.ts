import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { CsvValue } from "@tidemark/values/csv";
import { CSV_COLUMNS, CSV_HEADER, csvLine, type CsvRow } from "./csv-line.ts";

const EMPTY = CSV_COLUMNS.length - 2;
/** The one cell of a line that has a value besides the first. */
const cellOf = (value: CsvValue): string => csvLine({ record_type: "x", json: value }).slice(2 + EMPTY, -1);

describe("a text", () => {
  test.each([
    ["plain", "plain"],
    ["", ""],
    ["a,b", '"a,b"'],
    ['a"b', '"a""b"'],
    ["a\nb", '"a\nb"'],
    ["a\rb", '"a\rb"'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@x", "'@x"],
    ["  =1", "'  =1"],
    [" \u00a0-1", "' \u00a0-1"],
    ["\tx", "'\tx"],
    ["\rx", `"'\rx"`],
    ["\nx", `"'\nx"`],
    ["=a,b", `"'=a,b"`],
    ["a=b", "a=b"],
    [" x", " x"],
    ["'=1", "'=1"],
  ])("%j is written as %j", (text, cell) => expect(cellOf(text)).toBe(cell));
});

test.each<[CsvValue, string]>([
  [-1, "-1"],
  [1.5e300, "1.5e+300"],
  [0, "0"],
  [{ digits: "-12345678901234567890" }, "-12345678901234567890"],
  [undefined, ""],
])("%j is a number or nothing, and never guarded: %j", (value, cell) => expect(cellOf(value)).toBe(cell));

test("the header names all columns", () => {
  expect(CSV_HEADER).toBe(
    "record_type,org_id,project_id,run_id,run_name,run_status,artifact_id,attribute_id,key,path,step,value,logged_at,created_at,row_index,json\n",
  );
});

/** Reads one line by RFC 4180, in a different way than it is written. */
function parse(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < line.length - 1; at++) {
    const char = line[at]!;
    if (isQuoted && char === '"' && line[at + 1] === '"') cell += line[(at += 1)]!;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char !== "," || isQuoted) cell += char;
    else {
      cells.push(cell);
      cell = "";
    }
  }
  return [...cells, cell];
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(",", '"', "\n", "\r", "\t", " ", "=", "-", "a") }),
);

test("any texts are read back, with an apostrophe before those that a spreadsheet might run", () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: CSV_COLUMNS.length, maxLength: CSV_COLUMNS.length }), (values) => {
      const row = Object.fromEntries(CSV_COLUMNS.map((column, i) => [column, values[i]!])) as CsvRow;
      const line = csvLine(row);
      expect(line.endsWith("\n")).toBe(true);
      const cells = parse(line);
      expect(cells).toHaveLength(values.length);
      for (const [i, cell] of cells.entries()) {
        const value = values[i]!;
        const risky =
          ["=", "+", "-", "@"].includes(value.trimStart()[0] ?? "") || ["\t", "\r", "\n"].includes(value[0] ?? "");
        expect(cell).toBe(risky ? `'${value}` : value);
      }
    }),
  );
});

import { isRounded } from "@tidemark/values";
import type { Query, SqlRow } from "./file-tree.ts";
import type { Warnings } from "./warnings.ts";

/** Yields the rows of a statement up to the one that the database cannot read, which is counted as damage. */
export function* sqlRows(
  query: Query,
  warnings: Warnings,
  sql: string,
  ...parameters: readonly (number | string)[]
): Generator<SqlRow> {
  try {
    for (const row of query(sql, ...parameters)) yield row;
  } catch (error) {
    warnings.add("damaged", error instanceof Error ? error.message : "the database cannot be read");
  }
}

/** Returns the text of a column; undefined where it is null or something else. */
export function textColumn(row: SqlRow, name: string): string | undefined {
  const value = row[name];
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string" ? value : undefined;
}

/** Returns the number of a column, an integer as the nearest double; undefined where it is null or something else. */
export function numberColumn(row: SqlRow, name: string): number | undefined {
  const value = row[name];
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

/** The same for a part of a point: where the double is another number, that is counted. */
export function pointColumn(row: SqlRow, name: string, warnings: Warnings): number | undefined {
  const [value, number] = [row[name], numberColumn(row, name)];
  if (typeof value === "bigint" && isRounded(String(value), number!))
    warnings.add("rounded_integer", `${name} ${value}`);
  return number;
}

import { isRounded } from "@tidemark/values";
import type { Warnings } from "./warnings.ts";

/** A row of a database: columns by their names. Integers are `bigint`, other numbers `number`. */
export type SqlRow = Readonly<Record<string, null | number | bigint | string | Uint8Array>>;

/**
 * Runs one SELECT with parameters `?` on a SQLite database that the caller opened read-only. Rows are requested one by one, so the whole answer is never in
 * memory. What it throws counts as damage of the database. `sqliteQuery` makes one.
 */
export type Query = (sql: string, ...parameters: readonly (number | string)[]) => Iterable<SqlRow>;

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

/** The part of an open SQLite database that is used, such as a `DatabaseSync` of Node. */
export type SqliteDatabase = {
  prepare(sql: string): {
    setReadBigInts(enabled: boolean): void;
    iterate(...parameters: (number | string)[]): Iterable<unknown>;
  };
};

/** Returns the query of a database. Integers are read as `bigint`: those of 64 bits do not fit a number, and the first one would end all rows. */
export function sqliteQuery(database: SqliteDatabase): Query {
  return (sql, ...parameters) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement.iterate(...parameters) as Iterable<SqlRow>;
  };
}

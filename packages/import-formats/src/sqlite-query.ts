import type { Query, SqlRow } from "./file-tree.ts";

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

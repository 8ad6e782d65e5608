import pg from "pg";
import { queryOf, rowOf } from "./query.ts";
import type { Statement } from "./statement.ts";
import { viewTypes } from "./types.ts";

/** What the driver hands on with each row of a query that does not collect them. */
type Described = { readonly fields: readonly { readonly name: string }[] };

/**
 * Runs a statement with binary rows and passes each row on as it arrives, while PostgreSQL still sends the others. Bytes of a row are a view of
 * memory that is used again: they hold until `take` returns. When `take` throws, the other rows are left out, and the error is thrown once the connection is free again.
 */
export function eachRow<Row>(
  client: pg.ClientBase,
  statement: Statement,
  values: readonly unknown[],
  take: (row: Row) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query({ ...queryOf(statement, values), types: viewTypes });
    let names: readonly string[] | undefined;
    let fault: Error | undefined;
    query.on("row", (row: unknown, result) => {
      if (fault !== undefined) return;
      try {
        names ??= (result as unknown as Described).fields.map((field) => field.name);
        take(rowOf(names, row as readonly unknown[]) as Row);
      } catch (error) {
        fault = error instanceof Error ? error : new Error(String(error));
      }
    });
    query.on("error", reject);
    query.on("end", () => {
      if (fault === undefined) resolve();
      else reject(fault);
    });
    client.query(query);
  });
}

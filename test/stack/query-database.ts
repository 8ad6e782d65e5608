import { Client, type QueryResultRow } from "pg";
import type { Stack } from "./stack.ts";

/** Runs one statement on the stack's database as its superuser, without any service. */
export async function queryDatabase<Row extends QueryResultRow>(
  stack: Stack,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

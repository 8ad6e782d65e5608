import type { DocumentColumn } from "@tidemark/values/run-search";
import { sql, type Tx } from "@tidemark/pg";
import { attributePaths, placesOf } from "./column.rules.ts";

const findSql = sql(
  "runs_find_kept_column",
  "SELECT id FROM runs.kept_columns WHERE org_id = $1 AND kind = $2 AND path = $3 AND ready",
);

/** Returns the id under which the values of a column are kept for every run, in this snapshot; undefined if they are not. */
export async function findKeptColumn(
  tx: Tx,
  orgId: string,
  { kind, path }: DocumentColumn,
): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findSql, [orgId, kind, path]))?.id;
}

const askSql = sql("runs_ask_column", "SELECT runs.ask_column($1, $2, $3, $4, $5) AS asked");

/** Notes that a table was sorted by a column. Returns whether its values are to be kept from the commit on. */
export async function askColumn(tx: Tx, orgId: string, column: DocumentColumn): Promise<boolean> {
  const values = [orgId, column.kind, column.path, placesOf(column), attributePaths(column)];
  return (await tx.one<{ asked: boolean }>(askSql, values))?.asked ?? false;
}

const listSql = sql("runs_list_columns_to_fill", 'SELECT org_id AS "orgId", id FROM runs.columns_to_fill()');

/** Returns columns of any organizations whose values are not kept for every run yet. */
export function listColumnsToFill(tx: Tx): Promise<{ orgId: string; id: string }[]> {
  return tx.rows(listSql, []);
}

const fillSql = sql("runs_fill_column", "SELECT runs.fill_column($1, $2, $3) AS step");

/** Keeps the values of at most `runsMax` further runs, in a transaction that sees deleted runs. `waiting`: a later step continues. */
export async function fillColumn(
  tx: Tx,
  orgId: string,
  id: string,
  runsMax: number,
): Promise<"more" | "waiting" | "done"> {
  const row = await tx.one<{ step: "more" | "waiting" | "done" }>(fillSql, [orgId, id, runsMax]);
  return row?.step ?? "done";
}

const forgetSql = sql("runs_forget_columns", "SELECT runs.forget_columns()");

/** Forgets columns of any organizations that no process has asked for in seven days. */
export async function forgetColumns(tx: Tx): Promise<void> {
  await tx.rows(forgetSql, []);
}

const askSortKeySql = sql("runs_ask_sort_key", "SELECT ingest.note_sort_v1($1, $2, $3)");

/** Notes that a list of an organization was sorted by a metric. */
export async function askSortKey(tx: Tx, orgId: string, key: string, by: string): Promise<void> {
  await tx.rows(askSortKeySql, [orgId, key, by]);
}

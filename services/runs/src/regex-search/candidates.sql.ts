import { plannedSql, type Tx } from "@tidemark/pg";
import type { IndexedText } from "../search/search-condition.sql.ts";
import { TEXT_BYTES_MAX, tooBroad } from "../search/words.rules.ts";

/** A column whose texts expressions are searched in; each of `tags` is a text. */
export type RegexColumn = IndexedText | "name" | "tags";

/** A run that a search may find, with its requested texts; `known0`, `known1`, … answer the conditions. */
export type Candidate = { readonly run_id: string } & Partial<Record<RegexColumn, string | string[]>> & {
    readonly [known: `known${number}`]: boolean;
  };

/** Which runs are candidates: a condition on a row `t` of runs.found_runs, and the values of its parameters. */
export type CandidateFilter = { readonly where: string; readonly values: readonly unknown[] };

/** The parts that are read of each candidate: columns, and conditions whose parameters follow those of the filter in `values`. */
export type CandidateColumns = {
  readonly columns: readonly RegexColumn[];
  readonly known: readonly string[];
  readonly values: readonly unknown[];
};

/** Number of candidates in memory at a time. */
const PORTION = 500;

/**
 * Returns the ids of the candidates that `finds` accepts, in no particular order.
 * @throws run_search_too_broad if the texts of all candidates hold more than 128 MiB
 */
export async function filterCandidates(
  tx: Tx,
  filter: CandidateFilter,
  { columns, known, values }: CandidateColumns,
  finds: (candidate: Candidate) => boolean,
): Promise<string[]> {
  const list = [
    "t.run_id",
    ...columns.map((column) => `t.${column}`),
    ...known.map((condition, i) => `(${condition}) AS known${i}`),
  ].join(", ");
  const declare = `DECLARE candidates NO SCROLL CURSOR FOR SELECT ${list} FROM runs.found_runs t WHERE ${filter.where}`;
  // PostgreSQL plans cursors to return their first rows soon, and would read all texts instead of using an index.
  await tx.rows(plannedSql("runs_want_all_candidates", "SET LOCAL cursor_tuple_fraction = 1"), []);
  await tx.rows(plannedSql("runs_declare_candidates", declare), values);
  const fetch = plannedSql("runs_fetch_candidates", `FETCH ${PORTION} FROM candidates`);
  const found: string[] = [];
  for (let portion = 1; ; portion += 1) {
    const rows = await tx.rows<Candidate>(fetch, []);
    for (const row of rows) if (finds(row)) found.push(row.run_id);
    if (rows.length < PORTION) return found;
    if (portion === 1) await requireNarrow(tx, columns, filter);
  }
}

/** @throws run_search_too_broad */
async function requireNarrow(
  tx: Tx,
  columns: readonly RegexColumn[],
  { where, values }: CandidateFilter,
): Promise<void> {
  const bytes = columns.map((column) => `octet_length(t.${column}${column === "tags" ? "::text" : ""})`);
  const text = `SELECT coalesce(sum(${bytes.join(" + ") || "0"}), 0)::bigint AS bytes FROM runs.found_runs t WHERE ${where}`;
  const row = await tx.one<{ bytes: number }>(plannedSql("runs_weigh_candidates", text), values);
  if ((row?.bytes ?? 0) > TEXT_BYTES_MAX) throw tooBroad();
}

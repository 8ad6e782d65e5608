import { plannedSql, type Tx } from "@tidemark/pg";
import { searchCondition } from "../search/search-condition.sql.ts";
import { parameters } from "../read/runs.sql.ts";
import { countRuns } from "./run-counts.sql.ts";
import { columnConditions, type RunFilter } from "./run-filter.sql.ts";
import type { RunPosition } from "./run-list.rules.ts";

/** An uncounted search looks at this many of the newest runs first: they fill the page if many runs match. */
const NEWEST_RUNS = 1000;

/**
 * Returns the positions of a page of a search, newest first, if the newest runs suffice for it; else undefined. The number of runs that have a word cannot be
 * predicted where each organization has its own words. So this looks at a bounded number of runs, and the search of all runs in the index of words
 * follows only if needed.
 */
export async function chooseAmongNewest(
  tx: Tx,
  orgId: string,
  filter: RunFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<RunPosition[] | undefined> {
  const { search, ...columns } = filter;
  if (search === undefined) return undefined;
  const { values, bind } = parameters(orgId);
  const statement = plannedSql(
    "runs_choose_among_newest",
    `SELECT t.run_id AS id, t.created_at
     FROM (SELECT t.* FROM runs.found_runs t WHERE ${columnConditions(columns, "t", bind)}
           ORDER BY t.created_at DESC, t.run_id DESC LIMIT ${NEWEST_RUNS}) t
     WHERE ${searchCondition(search, bind)}
     ORDER BY t.created_at DESC, t.run_id DESC LIMIT ${bind(limit)} OFFSET ${bind(offset)}`,
  );
  const rows = await tx.rows<{ id: string; created_at: string }>(statement, values);
  const page = rows.map((row): RunPosition => ({ part: "valued", values: [], createdAt: row.created_at, id: row.id }));
  if (page.length === limit) return page;
  const { total } = await countRuns(tx, orgId, { ...columns, search: undefined });
  return total <= NEWEST_RUNS ? page : undefined;
}

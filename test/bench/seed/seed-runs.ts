import type pg from "pg";
import { countRuns, insertHeads, insertProjects, insertRuns, insertWideHeads, insertWideRun } from "./statements.ts";

/** What to fill an organization with. */
export type SeedOptions = {
  orgId: string;
  /** How many runs; they are spread over ten projects. */
  runs: number;
  /** Number of the first run: a later call with the next number adds to what is there. */
  first?: number;
  /** Called after each portion with the number of runs so far. */
  onProgress?: (done: number) => void;
};

const PORTION = 2000;
const metricTables = ["ingest.metric_keys", "ingest.metric_aggregate_pages", "ingest.metric_runs"];

/**
 * Fills an organization with runs as teams make them: names, nested configs of 700 bytes, tags,
 * notes, all states, times over six weeks, and 20 metric keys with aggregates each, indexed as those of runs that
 * ended long ago. It writes tables and not through the API, because only the data are wanted.
 * The same numbers give the same runs. `client` is the owner of the database.
 */
export async function seedRuns(client: pg.ClientBase, options: SeedOptions): Promise<void> {
  const { orgId, runs, first = 1, onProgress } = options;
  await client.query("SELECT set_config('app.org_id', $1, false)", [orgId]);
  await client.query(insertProjects, [orgId]);
  for (let done = 0; done < runs; done += PORTION) {
    const range = [orgId, first + done, first + Math.min(done + PORTION, runs) - 1];
    await client.query("BEGIN");
    await client.query(insertRuns, range);
    await client.query(insertHeads, range);
    await client.query("COMMIT");
    onProgress?.(Math.min(done + PORTION, runs));
  }
  await client.query(countRuns, [orgId]);
  // What autovacuum would do in a minute: statistics, and the pages that index-only scans trust.
  for (const table of ["runs.runs", "runs.run_texts", "runs.projects", ...metricTables]) {
    await client.query(`VACUUM (ANALYZE) ${table}`);
  }
}

/**
 * Adds runs with many metric keys, for comparisons. Returns their ids.
 */
export async function seedWideRuns(
  client: pg.ClientBase,
  options: { orgId: string; runs: number; metrics: number },
): Promise<string[]> {
  const { orgId, runs, metrics } = options;
  const ids: string[] = [];
  for (let number = 1; number <= runs; number += 1) {
    const { rows } = await client.query<{ id: string }>(insertWideRun, [orgId, number]);
    ids.push(rows[0]!.id);
    await client.query(insertWideHeads, [orgId, rows[0]!.id, number, metrics]);
  }
  for (const table of metricTables) await client.query(`VACUUM (ANALYZE) ${table}`);
  return ids;
}

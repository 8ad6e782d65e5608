import { randomUUID } from "node:crypto";
import type pg from "pg";
import { countRuns, insertHeads, insertProjects, insertRuns, insertTexts, SEED_METRICS } from "./statements.ts";

/** Runs of one organization, by their numbers, from 1. A later call with the next numbers adds to the existing runs. */
export type SeededRuns = { readonly orgId: string; readonly first: number; readonly last: number };

/** How organizations are filled. */
export type SeedOptions = {
  /** How many metric keys each run has; default: 20. */
  metrics?: number;
  /** Whether statistics are gathered at the end, as autovacuum would a minute later; default: true. */
  vacuum?: boolean;
  /** Called after each portion with the number of runs so far. */
  onProgress?: (done: number) => void;
};

const PORTION = 2000;
const metricTables = ["ingest.metric_keys", "ingest.metric_aggregate_pages", "ingest.metric_runs"];

/**
 * Fills organizations with runs as teams make them: ten projects, names, nested configs of 700 bytes, tags, notes, all states, times over six weeks,
 * and metric keys with aggregates, indexed as those of runs that ended long ago. It writes tables and not through the API, because only the data are
 * wanted; nothing else may write runs meanwhile. The same numbers give the same runs. `client` is the owner of the database.
 */
export async function seedRuns(
  client: pg.ClientBase,
  organizations: readonly SeededRuns[],
  { metrics = SEED_METRICS.length, vacuum = true, onProgress }: SeedOptions = {},
): Promise<void> {
  await inBulk(client, async () => {
    let done = 0;
    for (const portion of portionsOf(organizations)) {
      await insertPortion(client, portion, metrics);
      done += portion.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      onProgress?.(done);
    }
  });
  if (!vacuum) return;
  for (const table of ["runs.runs", "runs.run_texts", "runs.projects", ...metricTables]) {
    await client.query(`VACUUM (ANALYZE) ${table}`);
  }
}

/** How many runs small organizations have at most. */
const SMALL_RUNS_MAX = 50;
const MEDIUM_RUNS = 1000;

/** Returns organizations that share the database with one that is measured: `small` ones with 1, 2, ... 50, 1, 2, ... runs, and `medium` ones with 1,000 each. */
export function otherOrganizations(small: number, medium: number): SeededRuns[] {
  const sizes = [
    ...Array.from({ length: small }, (_, i) => 1 + (i % SMALL_RUNS_MAX)),
    ...Array.from({ length: medium }, () => MEDIUM_RUNS),
  ];
  return sizes.map((last) => ({ orgId: randomUUID(), first: 1, last }));
}

/** Cuts organizations into portions of at most `PORTION` runs, of one organization or several. */
function portionsOf(organizations: readonly SeededRuns[]): SeededRuns[][] {
  const portions: SeededRuns[][] = [];
  let left = 0;
  for (const { orgId, first, last } of organizations) {
    for (let from = first; from <= last;) {
      if (left === 0) {
        portions.push([]);
        left = PORTION;
      }
      const to = Math.min(last, from + left - 1);
      portions.at(-1)!.push({ orgId, first: from, last: to });
      left -= to - from + 1;
      from = to + 1;
    }
  }
  return portions;
}

async function insertPortion(client: pg.ClientBase, runs: readonly SeededRuns[], metrics: number): Promise<void> {
  const orgIds = runs.map(({ orgId }) => orgId);
  const values = [orgIds, runs.map(({ first }) => first), runs.map(({ last }) => last)];
  await client.query("BEGIN");
  await client.query(insertProjects, [orgIds]);
  await client.query(insertRuns, values);
  await client.query(insertTexts, values);
  await client.query(insertHeads, [...values, metrics]);
  await client.query(countRuns, [...values, metrics]);
  await client.query("COMMIT");
}

/**
 * Does `write` without the trigger that writes the texts of each run and without their index of words, which is built again afterwards: that takes a
 * third of the time.
 */
async function inBulk(client: pg.ClientBase, write: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ definition: string }>(
    "SELECT pg_get_indexdef('runs.run_texts_words'::regclass) AS definition",
  );
  await client.query("DROP INDEX runs.run_texts_words");
  await client.query("ALTER TABLE runs.runs DISABLE TRIGGER USER");
  try {
    await write();
  } finally {
    await client.query("ALTER TABLE runs.runs ENABLE TRIGGER USER");
    await client.query("SET maintenance_work_mem = '512MB'");
    await client.query(rows[0]!.definition);
    await client.query("RESET maintenance_work_mem");
  }
}

import { inBatches, organizationRemover, removalSql, removeRows, sql, type Db, type Tx } from "@tidemark/pg";

const ofRun = (table: string) =>
  removalSql(`ingest_remove_${table}_of_run`, `ingest.${table}`, "org_id = $2 AND run_id = $3");

/** The compaction work of a run, which could write to it once more; it is removed first, and again at the end. */
const WORK = ["dirty_markers", "compaction_work"];
/** Rows that are not deducted from any count. */
const DATA = [
  "metric_blocks",
  "metric_segments",
  "log_blocks",
  "log_segments",
  "attributes",
  "metric_keys",
  "metric_aggregate_pages",
  "rank_metric_keys",
  "rank_metric_sets",
  "rank_metric_runs",
  "unindexed_runs",
];
const COUNTED = ["rank_metric_rows", "rank_metric_blocks", "table_chunks", "objects", "metric_runs"];
const OF_ORGANIZATION = ["project_points", "rank_points", "restored_objects", "sort_keys", "sort_key_versions"];

const work = WORK.map(ofRun);
const data = DATA.map(ofRun);

/** Removes all data of an organization. `db` runs as the worker. */
export const removeOrganizationRows = organizationRemover("ingest", [...WORK, ...DATA, ...COUNTED, ...OF_ORGANIZATION]);

const lockRunSql = sql(
  "ingest_lock_run_to_remove",
  "SELECT FROM ingest.metric_runs WHERE org_id = $1 AND run_id = $2 FOR UPDATE",
);
const removeObjectsSql = sql(
  "ingest_remove_objects_of_run",
  `WITH picked AS MATERIALIZED (
     SELECT o.id FROM ingest.objects o WHERE o.org_id = $1 AND o.run_id = $2 LIMIT $3::bigint
   ), chunks AS (
     DELETE FROM ingest.table_chunks c WHERE c.org_id = $1 AND c.object_id = ANY (ARRAY(SELECT id FROM picked))
   )
   DELETE FROM ingest.objects o WHERE o.org_id = $1 AND o.id = ANY (ARRAY(SELECT id FROM picked))`,
);
const removeRanksSql = sql("ingest_remove_rank_rows", "SELECT ingest.remove_rank_rows($1, $2, $3)::float8 AS removed");
const removeCountsSql = sql(
  "ingest_remove_metric_run",
  `WITH gone AS (
     DELETE FROM ingest.metric_runs WHERE org_id = $1 AND run_id = $2 RETURNING point_count, key_count
   )
   UPDATE ingest.project_points p SET points = p.points - g.point_count, series = p.series - g.key_count
   FROM gone g WHERE p.org_id = $1 AND p.project_id = $3
     AND p.slot = (SELECT o.slot FROM ingest.project_points o WHERE o.org_id = $1 AND o.project_id = $3 ORDER BY o.points DESC LIMIT 1)`,
);
const removeProjectSql = sql(
  "ingest_remove_project_points",
  "DELETE FROM ingest.project_points WHERE org_id = $1 AND project_id = $2",
);

/** An object may have a table of many chunks. */
const OBJECTS_MAX = 50;
/** A block of rank metrics holds some thousand values. */
const RANK_ROWS_MAX = 500;

/**
 * Removes all data of a run, and its values from the counts of the project. Compaction of the run ends with the first step, because it must present
 * its row of work with every change; the indexes of values to sort by wait for the lock of the run. `db` runs as the worker.
 */
export async function removeRunRows(db: Db, orgId: string, runId: string, projectId: string): Promise<void> {
  const values = [orgId, runId];
  const lock = async (tx: Tx): Promise<void> => void (await tx.rows(lockRunSql, values));
  for (const statement of work) await removeRows(db, orgId, { statement, values });
  for (const statement of data) await removeRows(db, orgId, { statement, values, first: lock });
  await inBatches(OBJECTS_MAX, (rowsMax) =>
    db.withTenant(orgId, (tx) => tx.count(removeObjectsSql, [orgId, runId, rowsMax])),
  );
  await inBatches(RANK_ROWS_MAX, (rowsMax) =>
    db.withTenant(
      orgId,
      async (tx) => (await tx.one<{ removed: number }>(removeRanksSql, [orgId, runId, rowsMax]))!.removed,
    ),
  );
  await db.withTenant(orgId, (tx) => tx.count(removeCountsSql, [orgId, runId, projectId]));
  for (const statement of work) await removeRows(db, orgId, { statement, values });
}

/** Removes the counters of a project whose runs are gone. `db` runs as the worker. */
export async function removeProjectRows(db: Db, orgId: string, projectId: string): Promise<void> {
  await db.withTenant(orgId, (tx) => tx.count(removeProjectSql, [orgId, projectId]));
}

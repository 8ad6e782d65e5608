import { sql, type Tx, inBatches, organizationRemover, removalSql, removeRows, type Db } from "@tidemark/pg";

/** A run, all runs of a project, or with neither all runs of the organization. */
type RemovalScope = { readonly runId: string | undefined; readonly projectId: string | undefined };

const measure = (runs: string): string =>
  `SELECT count(*)::float8 AS runs, coalesce(sum(m.points), 0)::float8 AS points, coalesce(sum(l.lines), 0)::float8 AS lines,
          coalesce(sum(a.rows), 0)::float8 AS attributes, coalesce(sum(o.rows), 0)::float8 AS objects,
          coalesce(sum(coalesce(l.bytes, 0) + coalesce(a.bytes, 0) + coalesce(o.bytes, 0) + coalesce(b.bytes, 0)), 0)::float8 AS bytes
   FROM (SELECT f.id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND ${runs}) r
   LEFT JOIN LATERAL (SELECT k.point_count AS points FROM ingest.metric_runs k WHERE k.org_id = $1 AND k.run_id = r.id OFFSET 0) m ON true
   CROSS JOIN LATERAL (
     SELECT sum(p.lines) AS lines, sum(p.message_bytes) AS bytes
     FROM (SELECT s.lines, s.message_bytes FROM ingest.log_segments s WHERE s.org_id = $1 AND s.run_id = r.id
           UNION ALL SELECT s.lines, s.message_bytes FROM ingest.log_blocks s WHERE s.org_id = $1 AND s.run_id = r.id) p
     OFFSET 0) l
   CROSS JOIN LATERAL (
     SELECT count(*) AS rows, sum(s.bytes) AS bytes FROM ingest.attributes s WHERE s.org_id = $1 AND s.run_id = r.id OFFSET 0) a
   CROSS JOIN LATERAL (
     SELECT count(*) AS rows, sum(s.bytes) AS bytes FROM ingest.objects s
     WHERE s.org_id = $1 AND s.run_id = r.id AND NOT s.from_attribute OFFSET 0) o
   CROSS JOIN LATERAL (
     SELECT sum(octet_length(p.data)) AS bytes
     FROM (SELECT s.data FROM ingest.metric_blocks s WHERE s.org_id = $1 AND s.run_id = r.id
           UNION ALL SELECT s.points FROM ingest.metric_segments s WHERE s.org_id = $1 AND s.run_id = r.id) p
     OFFSET 0) b`;

const ofRun = sql("ingest_measure_removal_of_run", measure("f.id = $2"));
const ofProject = sql("ingest_measure_removal_of_project", measure("f.project_id = $2"));
const ofOrganization = sql("ingest_measure_removal_of_organization", measure("true"));

/** The number of runs, and what they contain: values of metrics, lines, attributes, objects, and the stored bytes of all. */
type RemovalRow = {
  readonly runs: number;
  readonly points: number;
  readonly lines: number;
  readonly attributes: number;
  readonly objects: number;
  readonly bytes: number;
};

/** Returns what would be removed with the visible runs of a scope. */
export async function measureRemovalOf(tx: Tx, orgId: string, { runId, projectId }: RemovalScope): Promise<RemovalRow> {
  const [statement, id] =
    runId !== undefined ? [ofRun, runId] : projectId !== undefined ? [ofProject, projectId] : [ofOrganization];
  return (await tx.one<RemovalRow>(statement, id === undefined ? [orgId] : [orgId, id]))!;
}

const rowsOfRun = (table: string) =>
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

const work = WORK.map(rowsOfRun);
const data = DATA.map(rowsOfRun);

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

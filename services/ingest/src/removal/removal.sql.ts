import { sql, type Tx } from "@tidemark/pg";

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
export type RemovalRow = {
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

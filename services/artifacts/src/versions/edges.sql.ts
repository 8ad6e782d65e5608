import { sql, type Tx } from "@tidemark/pg";

/** An edge: a run made (`output`) or used (`input`) a version. */
export type EdgeRow = {
  readonly id: string;
  readonly orgId: string;
  /** Of the run. */
  readonly projectId: string;
  readonly runId: string;
  readonly versionId: string;
  readonly direction: "input" | "output";
  readonly source: string;
  readonly createdAt: string;
};

const edgeColumns = `id, org_id AS "orgId", project_id AS "projectId", run_id AS "runId", version_id AS "versionId", direction, source,
  created_at AS "createdAt"`;

// The run may have moved since the request or the upload began.
// An existing edge is found by the key, which a SELECT might not use: the index of a version's edges looks as good.
const insertEdge = sql(
  "artifacts_insert_edge",
  `INSERT INTO artifacts.edges AS e (org_id, id, run_id, version_id, direction, project_id) VALUES ($1, $2, $3, $4, $5,
     coalesce((SELECT f.project_id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND f.id = $3), $6))
   ON CONFLICT (org_id, run_id, version_id, direction) DO UPDATE SET source = e.source RETURNING ${edgeColumns}`,
);

/** The record of a run that makes or uses a version; `id` is the edge's if it is new. */
export type NewEdge = Pick<EdgeRow, "id" | "runId" | "projectId" | "versionId" | "direction">;

/** Records that a run makes or uses a version, once, and returns the edge. */
export async function addEdge(tx: Tx, orgId: string, edge: NewEdge): Promise<EdgeRow> {
  const { id, runId, versionId, direction, projectId } = edge;
  return (await tx.one<EdgeRow>(insertEdge, [orgId, id, runId, versionId, direction, projectId]))!;
}

// A key of a project does not see versions of other projects.
const ofRun = `FROM artifacts.edges e
   CROSS JOIN LATERAL (SELECT f.project_id FROM artifacts.versions f WHERE f.org_id = $1 AND f.id = e.version_id OFFSET 0) v
   WHERE e.org_id = $1 AND e.run_id = $2 AND ($3::uuid IS NULL OR v.project_id = $3)`;

const listVersions = sql(
  "artifacts_list_versions_of_run",
  `SELECT e.version_id AS "versionId", e.direction ${ofRun} ORDER BY e.version_id, e.direction LIMIT $4::bigint OFFSET $5::bigint`,
);
const countVersions = sql("artifacts_count_versions_of_run", `SELECT count(*) AS total ${ofRun}`);

/** Returns a page of the versions that a run made or used, in all projects or one, by id, and how many there are. */
export async function listVersionsOfRun(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly Pick<EdgeRow, "versionId" | "direction">[]; readonly total: number }> {
  const values = [orgId, runId, projectId ?? null];
  const rows = await tx.rows<Pick<EdgeRow, "versionId" | "direction">>(listVersions, [
    ...values,
    page.limit,
    page.offset,
  ]);
  return { rows, total: (await tx.one<{ total: number }>(countVersions, values))!.total };
}

/** A run that made or used a version. */
export type LineageRow = {
  readonly runId: string;
  readonly name: string;
  readonly project: string;
  readonly status: string;
  readonly direction: "input" | "output";
};

/** Join of the edge `e` with its run `r` and its project `p`, without edges of deleted ones. */
export const withVisibleRun = `CROSS JOIN LATERAL (
       SELECT f.id, f.project_id, f.name, f.display_status FROM runs.run_labels_v1 f
       WHERE f.org_id = $1 AND f.id = e.run_id OFFSET 0) r
     CROSS JOIN LATERAL (
       SELECT f.name FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = r.project_id OFFSET 0) p`;

// Each direction is a walk of its own.
const listRuns = sql(
  "artifacts_list_runs_of_version",
  `SELECT e."runId", e.name, e.project, e.status, e.direction
   FROM (VALUES ('output'), ('input')) AS asked (direction)
   CROSS JOIN LATERAL (
     SELECT e.direction, e.created_at, e.id, r.id AS "runId", r.name, p.name AS project, r.display_status AS status
     FROM artifacts.edges e
     ${withVisibleRun}
     WHERE e.org_id = $1 AND e.version_id = $2 AND e.direction = asked.direction AND ($3::uuid IS NULL OR e.project_id = $3)
     ORDER BY e.created_at, e.id LIMIT $4::bigint) e
   ORDER BY e.created_at, e.id LIMIT $4::bigint`,
);

/** Returns the first runs that made or used a version, in all projects or one, in the order in which they did. */
export function listRunsOfVersion(
  tx: Tx,
  orgId: string,
  versionId: string,
  projectId: string | undefined,
  limit: number,
): Promise<LineageRow[]> {
  return tx.rows(listRuns, [orgId, versionId, projectId ?? null, limit]);
}

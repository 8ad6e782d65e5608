import { IMPORT_LIMITS } from "@tidemark/limits";
import { sql, type Tx } from "@tidemark/pg";
import type { RunImport } from "../export/export-limits.rules.ts";

/** An import as the statements return it: instants are RFC 3339 texts, warnings are a JSON text. */
export type JobRow = {
  readonly id: number;
  readonly orgId: string;
  readonly writeKey: string;
  readonly projectId: string | null;
  readonly sourceType: string;
  readonly sourceProject: string | null;
  readonly targetProject: string;
  readonly schemaVersion: number;
  readonly dedupePolicy: "skip_existing" | "legacy";
  readonly status: string;
  readonly chunks: number;
  readonly runs: number;
  readonly metrics: number;
  readonly attributes: number;
  readonly artifacts: number;
  readonly stagedBytes: number;
  readonly finalReceived: boolean;
  readonly warnings: string;
  readonly warningCount: number;
  readonly isPlanned: boolean;
  readonly batchesDone: number;
  readonly runsStored: number;
  readonly runsUpdated: number;
  readonly runsSkipped: number;
  readonly metricsStored: number;
  readonly attributesStored: number;
  readonly artifactsStored: number;
  readonly fence: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly createdByUserId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
};

const columnsBesides = (warnings: string): string =>
  `j.id, j.org_id AS "orgId", j.write_key AS "writeKey", j.project_id AS "projectId", j.source_type AS "sourceType",
   j.source_project AS "sourceProject", j.target_project AS "targetProject", j.schema_version AS "schemaVersion",
   j.dedupe_policy AS "dedupePolicy", j.status, j.chunks, j.runs, j.metrics, j.attributes, j.artifacts, j.staged_bytes AS "stagedBytes",
   j.final_received AS "finalReceived", ${warnings} AS warnings, j.warning_count AS "warningCount", j.is_planned AS "isPlanned",
   j.batches_done AS "batchesDone", j.runs_stored AS "runsStored", j.runs_updated AS "runsUpdated", j.runs_skipped AS "runsSkipped",
   j.metrics_stored AS "metricsStored", j.attributes_stored AS "attributesStored", j.artifacts_stored AS "artifactsStored", j.fence,
   j.error_code AS "errorCode", j.error_message AS "errorMessage", j.created_by_user_id AS "createdByUserId",
   j.created_at AS "createdAt", j.updated_at AS "updatedAt", j.completed_at AS "completedAt"`;

/** Select list of a `JobRow`. */
export const jobColumns = columnsBesides("j.warnings");

const insertJobSql = sql(
  "imports_insert_job",
  `WITH c AS (
     INSERT INTO imports.counters AS c (org_id, newest) VALUES ($1, 1)
     ON CONFLICT (org_id) DO UPDATE SET newest = c.newest + 1 RETURNING newest
   )
   INSERT INTO imports.jobs AS j (org_id, id, project_id, source_type, source_project, target_project, schema_version, dedupe_policy, status,
                                  created_by_user_id)
   SELECT $1, c.newest, $2, $3, $4, $5, $6, $7, $8, $9 FROM c
   RETURNING ${jobColumns}`,
);

/** A new import. */
type NewJob = Pick<
  JobRow,
  "projectId" | "sourceType" | "sourceProject" | "targetProject" | "schemaVersion" | "dedupePolicy" | "createdByUserId"
> & { readonly status: "created" | "committing" };

/** Stores an import under the next number of the organization. */
export async function insertJob(tx: Tx, orgId: string, job: NewJob): Promise<JobRow> {
  const row = await tx.one<JobRow>(insertJobSql, [
    orgId,
    job.projectId,
    job.sourceType,
    job.sourceProject,
    job.targetProject,
    job.schemaVersion,
    job.dedupePolicy,
    job.status,
    job.createdByUserId,
  ]);
  return row!;
}

const findJobSql = sql(
  "imports_find_job",
  `SELECT ${jobColumns} FROM imports.jobs j WHERE j.org_id = $1 AND j.id = $2`,
);
const lockJobSql = sql(
  "imports_lock_job",
  `SELECT ${jobColumns} FROM imports.jobs j WHERE j.org_id = $1 AND j.id = $2 FOR UPDATE`,
);

/** Returns an import of the organization; undefined when there is none. */
export function findJob(tx: Tx, orgId: string, id: number): Promise<JobRow | undefined> {
  return tx.one(findJobSql, [orgId, id]);
}

/** The same, locked until the end of the transaction. */
export function lockJob(tx: Tx, orgId: string, id: number): Promise<JobRow | undefined> {
  return tx.one(lockJobSql, [orgId, id]);
}

const listed = columnsBesides("j.first_warnings");
/** Condition on `j`, a row of jobs: its project is not deleted, or there never was one. */
const isOfLiveProject = `(j.project_id IS NULL OR EXISTS (
     SELECT FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.id = j.project_id OFFSET 0))`;
const listJobsSql = sql(
  "imports_list_jobs",
  `SELECT ${listed} FROM imports.jobs j WHERE j.org_id = $1 AND ${isOfLiveProject} ORDER BY j.org_id DESC, j.id DESC LIMIT $2::bigint`,
);
const listJobsOfProjectSql = sql(
  "imports_list_jobs_of_project",
  `SELECT ${listed} FROM imports.jobs j WHERE j.org_id = $1 AND j.project_id = $2 AND ${isOfLiveProject}
   ORDER BY j.id DESC LIMIT $3::bigint`,
);

const listJobsByIdSql = sql(
  "imports_list_jobs_by_id",
  `SELECT ${listed} FROM unnest($2::integer[]) WITH ORDINALITY AS w (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM imports.jobs o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) j
   ORDER BY w.ordinal`,
);

/** Returns imports in the order of their ids, with the warnings that lists show. */
export function listJobsById(tx: Tx, orgId: string, ids: readonly number[]): Promise<JobRow[]> {
  return tx.rows(listJobsByIdSql, [orgId, ids]);
}

/** Returns the newest imports, of all projects that are not deleted or of one, with the warnings that lists show. */
export function listJobs(tx: Tx, orgId: string, projectId: string | undefined): Promise<JobRow[]> {
  if (projectId === undefined) return tx.rows(listJobsSql, [orgId, IMPORT_LIMITS.listedMax]);
  return tx.rows(listJobsOfProjectSql, [orgId, projectId, IMPORT_LIMITS.listedMax]);
}

/** The first runs and chunks of an import. */
export type JobParts = {
  readonly id: number;
  readonly runIds: readonly string[];
  readonly chunkIds: readonly string[];
};

const listPartsSql = sql(
  "imports_list_job_parts",
  `SELECT w.id,
          ARRAY(SELECT r.run_id::text FROM imports.job_runs r
                WHERE r.org_id = $1 AND r.job_id = w.id AND r.outcome IN ('create', 'append')
                ORDER BY r.sequence, r.place LIMIT $3::bigint OFFSET 0) AS "runIds",
          ARRAY(SELECT c.chunk_id FROM imports.chunks c WHERE c.org_id = $1 AND c.job_id = w.id
                ORDER BY c.sequence LIMIT $3::bigint OFFSET 0) AS "chunkIds"
   FROM unnest($2::integer[]) AS w (id)`,
);

/** Returns the first `max` runs that imports stored or added to, and the first `max` of their chunks. */
export async function listJobParts(tx: Tx, orgId: string, ids: readonly number[], max: number): Promise<JobParts[]> {
  return ids.length === 0 ? [] : tx.rows(listPartsSql, [orgId, ids, max]);
}

const findProjectSql = sql(
  "imports_find_project",
  "SELECT p.id FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.name = $2",
);
const findProjectNameSql = sql(
  "imports_find_project_name",
  "SELECT p.name FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.id = $2",
);

/** Returns the id of the organization's project of this name. */
export async function findProjectId(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProjectSql, [orgId, name]))?.id;
}

/** Returns the name of a project of the organization. */
export async function findProjectName(tx: Tx, orgId: string, id: string): Promise<string | undefined> {
  return (await tx.one<{ name: string }>(findProjectNameSql, [orgId, id]))?.name;
}

const cancelSql = sql(
  "imports_cancel_job",
  `UPDATE imports.jobs j SET status = 'cancelled', staged_bytes = 0, updated_at = clock_timestamp(), completed_at = clock_timestamp()
   WHERE j.org_id = $1 AND j.id = $2 RETURNING ${jobColumns}`,
);

/** Cancels a job that this transaction has locked. */
export async function cancelLockedJob(tx: Tx, orgId: string, id: number): Promise<JobRow> {
  return (await tx.one<JobRow>(cancelSql, [orgId, id]))!;
}

const emptyChunksSql = sql(
  "imports_empty_chunks",
  `UPDATE imports.chunks SET content = NULL, known_points = NULL
   WHERE org_id = $1 AND job_id = $2 AND sequence >= $3 AND sequence < $4 AND content IS NOT NULL`,
);

/** Removes the staged content of all chunks or of a range of sequences. The rows still show that the chunks existed. */
export async function emptyChunks(
  tx: Tx,
  orgId: string,
  id: number,
  { from, to }: { readonly from: number; readonly to: number } = { from: 0, to: IMPORT_LIMITS.chunksOfJobMax },
): Promise<void> {
  await tx.rows(emptyChunksSql, [orgId, id, from, to]);
}

const listSql = sql(
  "imports_list_imports_of_runs",
  `SELECT i.job_id AS "jobId", w.id AS "runId"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, ordinal)
   CROSS JOIN LATERAL (SELECT r.job_id FROM imports.job_runs r
                       WHERE r.org_id = $1 AND r.run_id = w.id AND r.outcome IN ('create', 'append')
                       ORDER BY r.job_id DESC LIMIT $3::bigint OFFSET 0) i
   ORDER BY w.ordinal`,
);

/** Returns the newest imports of runs, at most `max` of each run, in the order of the runs. */
export function listImportsOfRuns(tx: Tx, orgId: string, runIds: readonly string[], max: number): Promise<RunImport[]> {
  return tx.rows(listSql, [orgId, runIds, max]);
}

import { byteaArray, sql, textArray, type Tx } from "@tidemark/pg";
import { jobColumns, type JobRow } from "../jobs/jobs.sql.ts";

/** An import that this process works on: every process that does so later has a higher fence. */
export type HeldJob = JobRow & { readonly identity: Uint8Array | null };

const beginSql = sql(
  "imports_begin_commit",
  `UPDATE imports.jobs j SET status = 'committing', identity = $3, turn = $4, error_code = NULL, error_message = NULL,
     leased_until = clock_timestamp(), updated_at = clock_timestamp()
   WHERE j.org_id = $1 AND j.id = $2 RETURNING ${jobColumns}`,
);
const takeTurnSql = sql(
  "imports_take_commit_turn",
  "UPDATE imports.counters c SET newest_turn = c.newest_turn + 1 WHERE c.org_id = $1 RETURNING c.newest_turn AS turn",
);

/**
 * Lets workers commit a job that this transaction has locked. `identity` is the one they write as. A job that skips already imported runs waits for
 * all jobs of the organization whose commits were requested before. The row of turns stays locked, so turns are visible in their order.
 */
export async function beginCommit(
  tx: Tx,
  { orgId, id, dedupePolicy }: Pick<JobRow, "orgId" | "id" | "dedupePolicy">,
  identity: Uint8Array,
): Promise<JobRow> {
  const isOrdered = dedupePolicy === "skip_existing";
  const turn = isOrdered ? (await tx.one<{ turn: number }>(takeTurnSql, [orgId]))!.turn : null;
  return (await tx.one<JobRow>(beginSql, [orgId, id, identity, turn]))!;
}

/** Condition that no commit of the organization precedes that of job `j`. */
const isNext = `(j.turn IS NULL OR NOT EXISTS (
     SELECT 1 FROM imports.jobs e WHERE e.org_id = j.org_id AND e.status = 'committing' AND e.turn < j.turn))`;

const holdSql = sql(
  "imports_hold_job",
  `UPDATE imports.jobs j SET fence = j.fence + 1, leased_until = clock_timestamp() + make_interval(secs => $3)
   WHERE j.org_id = $1 AND j.id = $2 AND j.status = 'committing' AND j.leased_until < clock_timestamp() AND ${isNext}
   RETURNING ${jobColumns}, j.identity`,
);

/** Takes the lease of a commit; undefined when there is nothing to do, another process has it, or another commit is first. */
export function holdJob(tx: Tx, orgId: string, id: number, seconds: number): Promise<HeldJob | undefined> {
  return tx.one(holdSql, [orgId, id, seconds]);
}

/** Of the holder of a lease. */
export type Hold = Pick<JobRow, "orgId" | "id" | "fence">;

const ofHolder = "j.org_id = $1 AND j.id = $2 AND j.fence = $3 AND j.status = 'committing'";

const renewSql = sql(
  "imports_renew_lease",
  `UPDATE imports.jobs j SET leased_until = clock_timestamp() + make_interval(secs => $4) WHERE ${ofHolder}`,
);

/** Renews a lease, or ends it with 0 seconds. False: another process has it. */
export async function renewLease(tx: Tx, { orgId, id, fence }: Hold, seconds: number): Promise<boolean> {
  return (await tx.count(renewSql, [orgId, id, fence, seconds])) === 1;
}

/** The outcome for a run of a job. */
export type Outcome = "create" | "append" | "skip";

/** A run of a job, before and after its outcome is decided. */
export type JobRun = {
  readonly sourceHash: Uint8Array;
  readonly sequence: number;
  readonly place: number;
  readonly isRich: boolean;
  readonly outcome: Outcome | null;
  readonly runId: string | null;
};

const listRunsSql = sql(
  "imports_list_job_runs",
  `SELECT r.source_hash AS "sourceHash", r.sequence, r.place, r.is_rich AS "isRich", r.outcome, r.run_id AS "runId"
   FROM imports.job_runs r WHERE r.org_id = $1 AND r.job_id = $2 AND r.sequence IS NOT NULL AND r.place IS NOT NULL ORDER BY r.sequence, r.place`,
);

/** Returns all runs of a job in their order, at most the number that a job may have. */
export function listJobRuns(tx: Tx, { orgId, id }: Pick<Hold, "orgId" | "id">): Promise<JobRun[]> {
  return tx.rows(listRunsSql, [orgId, id]);
}

const findImportedSql = sql(
  "imports_find_imported_runs",
  `SELECT w.identity, i.run_id AS "runId" FROM unnest($3::bytea[]) AS w (identity)
   CROSS JOIN LATERAL (SELECT m.run_id FROM imports.imported_runs m
                       WHERE m.org_id = $1 AND m.project_id = $2 AND m.identity = w.identity OFFSET 0) i`,
);

/** Returns the identities that were imported into a project, with their runs. */
export function findImported(
  tx: Tx,
  orgId: string,
  projectId: string,
  identities: readonly Uint8Array[],
): Promise<{ readonly identity: Uint8Array; readonly runId: string }[]> {
  return tx.rows(findImportedSql, [orgId, projectId, byteaArray([...identities])]);
}

const decideRunsSql = sql(
  "imports_decide_runs",
  `UPDATE imports.job_runs r SET outcome = d.outcome, run_id = d.run_id::uuid
   FROM unnest($3::bytea[], $4::text[], $5::text[]) AS d (source_hash, outcome, run_id)
   WHERE r.org_id = $1 AND r.job_id = $2 AND r.source_hash = d.source_hash`,
);
const planSql = sql(
  "imports_plan_commit",
  `UPDATE imports.jobs j SET is_planned = true, project_id = $4, runs_updated = $5, runs_skipped = $6, updated_at = clock_timestamp()
   WHERE ${ofHolder}`,
);

/** A run whose outcome is decided. */
export type DecidedRun = JobRun & { readonly outcome: Outcome; readonly runId: string };

/** Keeps the decisions. False: another process has the lease, and nothing is kept. */
export async function keepPlan(
  tx: Tx,
  hold: Hold,
  plan: {
    readonly projectId: string;
    readonly runs: readonly DecidedRun[];
    readonly updated: number;
    readonly skipped: number;
  },
): Promise<boolean> {
  const { orgId, id, fence } = hold;
  const { projectId, runs, updated, skipped } = plan;
  if ((await tx.count(planSql, [orgId, id, fence, projectId, updated, skipped])) !== 1) return false;
  await tx.rows(decideRunsSql, [
    orgId,
    id,
    byteaArray(runs.map(({ sourceHash }) => sourceHash)),
    textArray(runs.map(({ outcome }) => outcome)),
    textArray(runs.map(({ runId }) => runId)),
  ]);
  return true;
}

const keepKnownSql = sql(
  "imports_keep_known_points",
  "UPDATE imports.chunks SET known_points = $4 WHERE org_id = $1 AND job_id = $2 AND sequence = $3",
);

/** Keeps which points of a chunk an earlier import stored. */
export async function keepKnownPoints(
  tx: Tx,
  { orgId, id }: Hold,
  sequence: number,
  known: Uint8Array | null,
): Promise<void> {
  await tx.rows(keepKnownSql, [orgId, id, sequence, known]);
}

const loadContentSql = sql(
  "imports_load_content",
  `SELECT c.content, c.known_points AS "knownPoints" FROM imports.chunks c WHERE c.org_id = $1 AND c.job_id = $2 AND c.sequence = $3`,
);

/** Returns the packed content of a chunk, and the set of its known points. @throws Error when it is gone */
export async function loadContent(
  tx: Tx,
  { orgId, id }: Pick<Hold, "orgId" | "id">,
  sequence: number,
): Promise<{ readonly content: Uint8Array; readonly knownPoints: Uint8Array | null }> {
  const row = await tx.one<{ content: Uint8Array | null; knownPoints: Uint8Array | null }>(loadContentSql, [
    orgId,
    id,
    sequence,
  ]);
  if (row === undefined || row.content === null) throw new Error(`chunk ${sequence} of import ${id} is gone`);
  return { content: row.content, knownPoints: row.knownPoints };
}

/** The amounts that a batch stored. */
export type BatchCounts = {
  readonly runs: number;
  readonly metrics: number;
  readonly attributes: number;
  readonly artifacts: number;
};

const markSql = sql(
  "imports_mark_batch",
  `UPDATE imports.jobs j SET batches_done = $4, runs_stored = j.runs_stored + $5, metrics_stored = j.metrics_stored + $6,
     attributes_stored = j.attributes_stored + $7, artifacts_stored = j.artifacts_stored + $8, leased_until = clock_timestamp() + make_interval(secs => $9),
     updated_at = clock_timestamp()
   WHERE ${ofHolder} AND j.batches_done = $4 - 1`,
);

/** Marks the batch with this number, counted from 1, as stored, and renews the lease. False: another process has the lease. */
export async function markBatch(
  tx: Tx,
  { orgId, id, fence }: Hold,
  batch: number,
  counts: BatchCounts,
  leaseSeconds: number,
): Promise<boolean> {
  const { runs, metrics, attributes, artifacts } = counts;
  const values = [orgId, id, fence, batch, runs, metrics, attributes, artifacts, leaseSeconds];
  return (await tx.count(markSql, values)) === 1;
}

const passTurnSql = sql(
  "imports_pass_commit_turn",
  `UPDATE imports.jobs j SET leased_until = clock_timestamp()
   WHERE j.org_id = $1 AND j.id = (SELECT n.id FROM imports.jobs n WHERE n.org_id = $1 AND n.status = 'committing' AND n.turn IS NOT NULL
                                   ORDER BY n.turn LIMIT 1) AND j.leased_until < clock_timestamp()`,
);

/** Makes the next commit of the organization wait from now on, behind commits of other organizations that are already due. */
async function passTurn(tx: Tx, orgId: string): Promise<void> {
  await tx.count(passTurnSql, [orgId]);
}

const rememberSql = sql(
  "imports_remember_runs",
  `INSERT INTO imports.imported_runs (org_id, project_id, identity, run_id)
   SELECT $1, $2, n.identity, n.run_id::uuid FROM unnest($3::bytea[], $4::text[]) AS n (identity, run_id) ORDER BY n.identity
   ON CONFLICT DO NOTHING`,
);
const finishSql = sql(
  "imports_finish_commit",
  `UPDATE imports.jobs j SET status = CASE j.dedupe_policy WHEN 'legacy' THEN 'completed' ELSE 'committed' END, staged_bytes = 0,
     identity = NULL, updated_at = clock_timestamp(), completed_at = clock_timestamp()
   WHERE ${ofHolder}`,
);

/** Ends a commit whose batches are all stored, and remembers the runs that it created. False: another process has the lease. */
export async function finishCommit(
  tx: Tx,
  hold: Hold,
  projectId: string,
  created: readonly { readonly identity: Uint8Array; readonly runId: string }[],
): Promise<boolean> {
  const { orgId, id, fence } = hold;
  if ((await tx.count(finishSql, [orgId, id, fence])) !== 1) return false;
  await passTurn(tx, orgId);
  await tx.rows(rememberSql, [
    orgId,
    projectId,
    byteaArray(created.map(({ identity }) => identity)),
    textArray(created.map(({ runId }) => runId)),
  ]);
  return true;
}

const failSql = sql(
  "imports_fail_commit",
  `UPDATE imports.jobs j SET status = 'failed', error_code = $4, error_message = $5, updated_at = clock_timestamp() WHERE ${ofHolder}`,
);

/** Ends a commit that cannot go on. Stored batches are marked, so that another commit continues from there. False: another process has the lease. */
export async function failCommit(tx: Tx, { orgId, id, fence }: Hold, code: string, message: string): Promise<boolean> {
  if ((await tx.count(failSql, [orgId, id, fence, code, message])) !== 1) return false;
  await passTurn(tx, orgId);
  return true;
}

/** A job of any organization. */
export type JobName = { readonly orgId: string; readonly id: number };

const listDueSql = sql(
  "imports_list_due_commits",
  `SELECT j.org_id AS "orgId", j.id FROM imports.jobs j
   WHERE j.status = 'committing' AND j.leased_until < now() AND ${isNext} ORDER BY j.leased_until LIMIT $1::bigint`,
);
const listOldSql = sql(
  "imports_list_old_jobs",
  `SELECT org_id AS "orgId", id FROM imports.jobs
   WHERE status IN ('created', 'uploading', 'dry_run_ready', 'failed') AND updated_at < now() - make_interval(days => $1) ORDER BY updated_at
   LIMIT $2::bigint`,
);

/** Returns commits of all organizations that can go on and that no process works on, those due longest first. `tx` has the worker's role. */
export function listDueCommits(tx: Tx, max: number): Promise<JobName[]> {
  return tx.rows(listDueSql, [max]);
}

/** Returns jobs that were not committed and have not changed for some days, of all organizations. `tx` has the worker's role. */
export function listOldJobs(tx: Tx, days: number, max: number): Promise<JobName[]> {
  return tx.rows(listOldSql, [days, max]);
}

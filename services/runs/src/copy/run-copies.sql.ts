import { sql, type Tx } from "@tidemark/pg";

const addSql = sql(
  "runs_add_copies",
  `WITH taken AS (SELECT runs.take_run_ids($2::uuid[], $1) AS id)
   INSERT INTO runs.run_copies (org_id, run_id, source_id, project_id)
   SELECT $1, c.id, c.source_id, $4 FROM unnest($2::uuid[], $3::uuid[]) AS c (id, source_id)
   WHERE c.id IN (SELECT t.id FROM taken t)`,
);

/** Requests copies: the runs at the same places of `sourceIds` under new ids. Returns how many of the ids were free. */
export function addCopies(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  sourceIds: readonly string[],
  projectId: string,
): Promise<number> {
  return tx.count(addSql, [orgId, ids, sourceIds, projectId]);
}

const organizationsSql = sql(
  "runs_copying_organizations",
  'SELECT org_id AS "orgId" FROM runs.copying_organizations()',
);

/** Returns some organizations with copies that are being made. */
export async function listCopyingOrganizations(tx: Tx): Promise<string[]> {
  return (await tx.rows<{ orgId: string }>(organizationsSql, [])).map(({ orgId }) => orgId);
}

/** How far a service is with a copy, as its `copy_run_v1` returned it; null: not begun. */
export type Progress = string | null;

/** A copy that this transaction works on. */
export type RunCopy = {
  readonly id: string;
  readonly sourceId: string;
  readonly projectId: string;
  /** Neither the source nor the project is deleted. */
  readonly isPossible: boolean;
  readonly failures: number;
} & CopyProgress;

/** How far the services are. */
export type CopyProgress = {
  readonly ingest: Progress;
  readonly artifacts: Progress;
  readonly traces: Progress;
};

const lockSql = sql(
  "runs_lock_copies",
  `SELECT c.run_id AS id, c.source_id AS "sourceId", c.project_id AS "projectId", c.failures, c.ingest::text, c.artifacts::text, c.traces::text,
          EXISTS (SELECT FROM runs.runs r WHERE r.org_id = $1 AND r.id = c.source_id OFFSET 0)
            AND EXISTS (SELECT FROM runs.projects p WHERE p.org_id = $1 AND p.id = c.project_id OFFSET 0) AS "isPossible",
          set_config('statement_timeout', $2, true)
   FROM runs.run_copies c WHERE c.org_id = $1 AND c.run_id > $4 AND c.due_at <= clock_timestamp()
   ORDER BY c.run_id LIMIT $3::bigint FOR UPDATE OF c SKIP LOCKED`,
);

/**
 * Locks and returns the next copies that are due and that no other process works on, in the order of their ids, at most `rowsMax`. Each further
 * statement of the transaction may take `seconds`.
 */
export function lockCopies(
  tx: Tx,
  orgId: string,
  { after, rowsMax, seconds }: { readonly after: string; readonly rowsMax: number; readonly seconds: number },
): Promise<RunCopy[]> {
  return tx.rows(lockSql, [orgId, `${seconds}s`, rowsMax, after]);
}

// Artifacts come after all that refers to them: what is logged meanwhile may refer to later ones.
const stepSql = sql(
  "runs_copy_parts",
  `SELECT i.state::text AS ingest, a.state::text AS artifacts, t.state::text AS traces
   FROM (SELECT CASE WHEN $5::json ->> 'part' = 'done' THEN $5::json ELSE ingest.copy_run_v1($1, $2, $3, $4, $5::json) END AS state OFFSET 0) i
   CROSS JOIN LATERAL (
     SELECT CASE WHEN i.state ->> 'part' <> 'done' OR $6::json ->> 'part' = 'done' THEN $6::json
                 ELSE artifacts.copy_run_v1($1, $2, $3, $4, $6::json) END AS state OFFSET 0) a
   CROSS JOIN LATERAL (
     SELECT CASE WHEN a.state ->> 'part' = 'done' AND $7::json ->> 'part' IS DISTINCT FROM 'done'
                 THEN traces.copy_run_v1($1, $2, $3, $4, $7::json) ELSE $7::json END AS state OFFSET 0) t`,
);

/** Copies the next parts of the source, each at most a page. Returns how far the services are then. */
export async function copyParts(tx: Tx, orgId: string, copy: RunCopy): Promise<CopyProgress> {
  const { sourceId, id, projectId, ingest, artifacts, traces } = copy;
  return (await tx.one<CopyProgress>(stepSql, [orgId, sourceId, id, projectId, ingest, artifacts, traces]))!;
}

const keepSql = sql(
  "runs_keep_copy_progress",
  `UPDATE runs.run_copies SET ingest = $3, artifacts = $4, traces = $5, failures = 0 WHERE org_id = $1 AND run_id = $2`,
);

/** Stores how far a copy is. */
export async function keepProgress(tx: Tx, orgId: string, { id, ingest, artifacts, traces }: RunCopy): Promise<void> {
  await tx.count(keepSql, [orgId, id, ingest, artifacts, traces]);
}

const delaySql = sql(
  "runs_delay_copy",
  `UPDATE runs.run_copies SET failures = failures + 1, due_at = clock_timestamp() + $3 * interval '1 second' WHERE org_id = $1 AND run_id = $2`,
);

/** Has a copy whose step failed continued in some seconds. */
export async function delayCopy(tx: Tx, orgId: string, id: string, seconds: number): Promise<void> {
  await tx.count(delaySql, [orgId, id, seconds]);
}

const lockSourceSql = sql(
  "runs_lock_copied_run",
  "SELECT metadata, clock_timestamp() AS at FROM runs.runs WHERE org_id = $1 AND id = $2 FOR SHARE",
);

/** Locks the source of a copy until the end of the transaction and returns its metadata, and the time; undefined: it is deleted. */
export function lockSource(
  tx: Tx,
  orgId: string,
  runId: string,
): Promise<{ readonly metadata: string; readonly at: string } | undefined> {
  return tx.one(lockSourceSql, [orgId, runId]);
}

const finishSql = sql("runs_finish_copy", "SELECT runs.finish_copy($1, $2, $3, $4, $5, $6) AS made");

/** Makes the run of a copy whose data is all there, and ends the copy; returns false, and changes nothing, where that is no longer possible. */
export async function finishCopy(tx: Tx, orgId: string, copy: RunCopy, metadata: string): Promise<boolean> {
  const { id, sourceId, projectId, ingest } = copy;
  return (await tx.one<{ made: boolean }>(finishSql, [orgId, sourceId, id, projectId, metadata, ingest]))!.made;
}

const statesSql = sql(
  "runs_states_of_copies",
  `SELECT w.id, EXISTS (SELECT FROM runs.run_copies c WHERE c.org_id = $1 AND c.run_id = w.id OFFSET 0) AS "isPending",
          EXISTS (SELECT FROM runs.runs r WHERE r.org_id = $1 AND r.id = w.id OFFSET 0) AS "isThere"
   FROM unnest($2::uuid[]) AS w (id)`,
);

/** Returns which copies are pending, and which are runs now. */
export function statesOfCopies(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly isPending: boolean; readonly isThere: boolean }[]> {
  return tx.rows(statesSql, [orgId, ids]);
}

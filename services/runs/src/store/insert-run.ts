import { sql, type Tx } from "@tidemark/pg";
import { runColumns, type RunRow } from "./run-row.ts";

/** A run to store. */
export type NewRun = {
  readonly id: string;
  readonly projectId: string;
  /** Undefined: `nameWords` and the number of the run in its project make one. */
  readonly name: string | undefined;
  readonly nameWords: string;
  /** Canonical JSON. */
  readonly config: string;
  readonly tags: readonly string[];
  /** Canonical JSON. */
  readonly metadata: string;
  /** Undefined for runs whose id the client did not choose. */
  readonly createFingerprint: Uint8Array | undefined;
  /** Undefined for runs that are no forks. */
  readonly fork: Fork | undefined;
};

/** Where a fork comes from. */
export type Fork = {
  readonly parentRunId: string;
  readonly step: number | undefined;
  readonly artifactId: string | undefined;
  /** Undefined for requests without a key. */
  readonly fingerprint: Uint8Array | undefined;
  /** When it begins. */
  readonly at: string;
};

// The counter goes up in the same statement, and as late as the transaction allows: creates in one
// project wait for each other here. The time is read after that wait, so that it rises with the number,
// unless it was fixed before because something in the run names it.
const insertRunSql = sql(
  "runs_insert_run",
  `WITH p AS (
     UPDATE runs.projects SET runs_running = runs_running + 1
     WHERE org_id = $1 AND id = $3
     RETURNING org_id, id, name, runs_running + runs_finished + runs_failed AS number,
               coalesce($10::timestamptz, clock_timestamp()) AS at
   ), r AS (
     INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                            create_fingerprint, parent_run_id, forked_from_step, forked_from_artifact_id,
                            fork_fingerprint)
     SELECT $1, $2, p.id, coalesce($4, $5 || '-' || p.number), 'running', $6, $7, $8, p.at, p.at, $9,
            $11, $12, $13, $14
     FROM p
     RETURNING *
   )
   SELECT ${runColumns} FROM r JOIN p ON p.org_id = r.org_id AND p.id = r.project_id`,
);

/** Stores a running run that begins now, and counts it. Its id has been taken in this transaction. */
export async function insertRun(tx: Tx, orgId: string, run: NewRun): Promise<RunRow> {
  const row = await tx.one<RunRow>(insertRunSql, [
    orgId,
    run.id,
    run.projectId,
    run.name ?? null,
    run.nameWords,
    run.config,
    run.tags,
    run.metadata,
    run.createFingerprint ?? null,
    run.fork?.at ?? null,
    run.fork?.parentRunId ?? null,
    run.fork?.step ?? null,
    run.fork?.artifactId ?? null,
    run.fork?.fingerprint ?? null,
  ]);
  if (row === undefined) throw new Error(`project ${run.projectId} vanished`);
  return row;
}

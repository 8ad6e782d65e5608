import { AppError } from "@tidemark/errors";
import { sql, type Db, type Tx } from "@tidemark/pg";
import { runColumns, type RunRow } from "../read/runs.sql.ts";

const takeRunIdSql = sql("runs_take_run_id", "SELECT runs.take_run_id($1, $2) AS taken");

/**
 * Takes a run id for the organization; false when any organization has it. The id is free again if
 * the transaction rolls back. Concurrent takers of one id wait for the first one to end.
 */
export async function takeRunId(tx: Tx, orgId: string, runId: string): Promise<boolean> {
  const row = await tx.one<{ taken: boolean }>(takeRunIdSql, [runId, orgId]);
  return row?.taken === true;
}

/** Takes and returns a random id for a run that this transaction creates. */
export async function takeNewRunId(tx: Tx, newId: () => string, orgId: string): Promise<string> {
  const id = newId();
  if (!(await takeRunId(tx, orgId, id))) throw new Error(`the random run id ${id} is taken`);
  return id;
}

/** A run to store. */
type NewRun = {
  readonly id: string;
  readonly projectId: string;
  /** Undefined: the name is `nameWords` and the number of the run in its project. */
  readonly name: string | undefined;
  readonly nameWords: string;
  /** Canonical JSON. */
  readonly config: string;
  readonly tags: readonly string[];
  /** Canonical JSON. */
  readonly metadata: string;
  /** Undefined for runs whose id the client did not choose. */
  readonly createFingerprint: Uint8Array | undefined;
  /** Undefined for runs that are not forks. */
  readonly fork: ForkOrigin | undefined;
};

/** Where a fork comes from, and the request that created it. */
type ForkOrigin = {
  readonly parentRunId: string;
  readonly step: number | undefined;
  /** The checkpoint that it starts from. */
  readonly artifactId: string | undefined;
  /** Undefined for requests without an idempotency key. */
  readonly fingerprint: Uint8Array | undefined;
  /** When the fork starts. */
  readonly at: string;
};

// The counter is incremented in the same statement, and as late as the transaction allows, because
// creates in one project wait for each other here. The time is read after that wait, so that it increases
// with the number; a fork's time was read before, because its metadata names it.
const insertRunSql = sql(
  "runs_insert_run",
  `WITH p AS (
     UPDATE runs.projects SET runs_running = runs_running + 1
     WHERE org_id = $1 AND id = $3
     RETURNING org_id, id, name, number, runs_running + runs_finished + runs_failed + runs_deleted AS place,
               coalesce($10::timestamptz, clock_timestamp()) AS at
   ), r AS (
     INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                            create_fingerprint, parent_run_id, forked_from_step, fork_fingerprint,
                            forked_from_artifact_id)
     SELECT $1, $2, p.id, coalesce($4, $5 || '-' || p.place), 'running', $6, $7, $8, p.at, p.at, $9,
            $11, $12, $13, $14
     FROM p
     RETURNING *
   )
   SELECT ${runColumns} FROM r JOIN p ON p.org_id = r.org_id AND p.id = r.project_id`,
);

/**
 * Stores a running run that starts now, and counts it. This transaction must have taken its id.
 * @throws service_unavailable when its project was deleted since the transaction found it
 */
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
    run.fork?.fingerprint ?? null,
    run.fork?.artifactId ?? null,
  ]);
  if (row === undefined) {
    throw new AppError("service_unavailable", "the project was just deleted; try again", { retryAfterSeconds: 1 });
  }
  return row;
}

/** Where the runs of a group are created. */
export type GroupHome = {
  readonly orgId: string;
  readonly project: string;
  /** The only project that the callers may see; undefined: every project of the organization. */
  readonly onlyProjectId: string | undefined;
  /** No run is created when the organization has more runs than this; undefined: any number. */
  readonly runsMax: number | undefined;
};

/** A run to create in a group. The documents are canonical JSON. */
export type GroupedRun = {
  readonly id: string;
  /** Undefined: the name is `nameWords` and the number of the run in its project. */
  readonly name: string | undefined;
  readonly nameWords: string;
  readonly config: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  /** Undefined for runs whose id the client did not choose. */
  readonly createFingerprint: Uint8Array | undefined;
};

/** The fields that the database adds to a run; the instant is an RFC 3339 text. */
export type CreatedRun = {
  readonly id: string;
  readonly project_id: string;
  readonly project_number: number;
  readonly name: string;
  readonly created_at: string;
};

const createRunsSql = sql(
  "runs_create_runs",
  `SELECT run AS id, project AS project_id, project_number, run_name AS name, at AS created_at
   FROM runs.create_runs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

/**
 * Creates runs with different ids in one project, running from now on and counted, in one transaction. Skips runs whose id is taken, and
 * all runs when the project is missing or the organization is close to its plan's limit: nothing of these is stored. Runs get their numbers and times
 * in the given order.
 */
export function createRuns(tx: Tx, home: GroupHome, runs: readonly GroupedRun[]): Promise<CreatedRun[]> {
  return tx.rows(createRunsSql, [
    home.orgId,
    home.project,
    home.onlyProjectId ?? null,
    home.runsMax ?? null,
    runs.map(({ id }) => id),
    runs.map(({ name }) => name ?? null),
    runs.map(({ nameWords }) => nameWords),
    runs.map(({ config }) => config),
    runs.map(({ tags }) => JSON.stringify(tags)),
    runs.map(({ metadata }) => metadata),
    runs.map(({ createFingerprint }) => createFingerprint ?? null),
  ]);
}

const mergeTextsSql = sql("runs_merge_new_texts", "SELECT runs.merge_new_texts()");

/** Has the index of searched texts merged. */
export async function mergeNewTexts(db: Pick<Db, "rows">): Promise<void> {
  await db.rows(mergeTextsSql, []);
}

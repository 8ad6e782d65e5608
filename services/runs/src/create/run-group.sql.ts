import { sql, type Tx } from "@tidemark/pg";

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
  readonly name: string;
  readonly created_at: string;
};

const createRunsSql = sql(
  "runs_create_runs",
  `SELECT run AS id, project AS project_id, run_name AS name, at AS created_at
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

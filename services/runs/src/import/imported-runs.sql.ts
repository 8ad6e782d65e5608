import { float8Array, sql, textArray, uuidArray, type Tx } from "@tidemark/pg";

/** A run to import. The documents are canonical JSON; times are microseconds since the epoch, NaN for none. */
export type ImportedRunRow = {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly config: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly startedUs: number;
  readonly finishedUs: number;
};

const importRunsSql = sql(
  "runs_import_runs",
  "SELECT runs.import_runs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS created",
);

/** Stores and counts the runs whose ids are free, and returns their number. The project must exist. */
export async function insertImportedRuns(
  tx: Tx,
  orgId: string,
  projectId: string,
  runs: readonly ImportedRunRow[],
): Promise<number> {
  const row = await tx.one<{ created: number }>(importRunsSql, [
    orgId,
    projectId,
    uuidArray(runs.map(({ id }) => id)),
    textArray(runs.map(({ name }) => name)),
    textArray(runs.map(({ status }) => status)),
    textArray(runs.map(({ config }) => config)),
    textArray(runs.map(({ tags }) => JSON.stringify(tags))),
    textArray(runs.map(({ metadata }) => metadata)),
    float8Array(runs.map(({ startedUs }) => startedUs)),
    float8Array(runs.map(({ finishedUs }) => finishedUs)),
  ]);
  return row!.created;
}

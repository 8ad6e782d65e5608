import type { AggregateNumbers } from "@tidemark/codecs/metrics";
import { binarySql, boolArray, int4Array, readFloat8Array, sql, textArray, type Tx, uuidArray } from "@tidemark/pg";

/** A writer's query about runs; `run` is an index of `runIds`. */
export type MetricRunsQuery = {
  readonly orgId: string;
  readonly runIds: readonly string[];
  /** For each run, whether the pages of its keys are wanted too. */
  readonly withPages: readonly boolean[];
  /** Keys whose ids are wanted. */
  readonly keys: readonly { readonly run: number; readonly key: string }[];
  readonly pages: readonly { readonly run: number; readonly page: number }[];
};

/** The stored state of a run's metrics; zeros for a run that was never written. */
export type StoredRun = {
  readonly version: number;
  readonly keyCount: number;
  readonly pointCount: number;
  /** Undefined for a run that was never written. */
  readonly projectId?: string;
};

/** The stored state of runs, as of one moment. */
export type MetricRunsState = {
  /** In the order of `runIds`. */
  readonly runs: readonly StoredRun[];
  /** In the order of `keys`; -1 where the run does not have the key. */
  readonly keyIds: Int32Array;
  readonly pages: readonly { readonly run: number; readonly page: number; readonly numbers: AggregateNumbers }[];
};

type StoredRow = {
  index: number | null;
  keyIds: Buffer | null;
  version: number;
  keyCount: number;
  pointCount: number;
  projectId: string | null;
  page: number | null;
  stats: Buffer;
  nonFinite: Buffer | null;
};

const loadRuns = binarySql(
  "ingest_load_metric_runs",
  `SELECT index, key_ids AS "keyIds", version, key_count AS "keyCount", point_count AS "pointCount", project_id AS "projectId",
     page, stats, non_finite AS "nonFinite"
   FROM ingest.metric_run_states($1, $2, $3, $4, $5, $6, $7)`,
);

const NEVER_WRITTEN: StoredRun = { version: 0, keyCount: 0, pointCount: 0 };

/** Loads the state that the next writes to some runs need. */
export async function loadMetricRuns(tx: Tx, query: MetricRunsQuery): Promise<MetricRunsState> {
  const { orgId, runIds, withPages, keys, pages } = query;
  const rows = await tx.rows<StoredRow>(loadRuns, [
    orgId,
    uuidArray(runIds),
    boolArray(withPages),
    int4Array(keys.map(({ run }) => run + 1)),
    textArray(keys.map(({ key }) => key)),
    int4Array(pages.map(({ run }) => run + 1)),
    int4Array(pages.map(({ page }) => page)),
  ]);
  const runs: StoredRun[] = runIds.map(() => NEVER_WRITTEN);
  const found: { run: number; page: number; numbers: AggregateNumbers }[] = [];
  let keyIds = new Int32Array(0);
  for (const row of rows) {
    if (row.index === null) keyIds = int32sOf(row.keyIds);
    else if (row.page === null) {
      const { version, keyCount, pointCount, projectId } = row;
      runs[row.index - 1] = { version, keyCount, pointCount, ...(projectId === null ? {} : { projectId }) };
    } else {
      const nonFinite = row.nonFinite === null ? null : readFloat8Array(row.nonFinite);
      found.push({ run: row.index - 1, page: row.page, numbers: { numbers: readFloat8Array(row.stats), nonFinite } });
    }
  }
  return { runs, keyIds, pages: found };
}

const lockRuns = sql("ingest_lock_metric_runs", "SELECT ingest.lock_metric_runs($1, $2)");

/** Makes all other writers of the runs wait until the transaction ends. */
export async function lockMetricRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx.rows(lockRuns, [orgId, uuidArray(runIds)]);
}

function int32sOf(bytes: Buffer | null): Int32Array<ArrayBuffer> {
  const numbers = new Int32Array((bytes?.length ?? 0) / 4);
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes!.readInt32BE(4 * i);
  return numbers;
}

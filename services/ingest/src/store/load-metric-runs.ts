import { binarySql, sql, type Tx } from "@tidemark/pg";
import { boolArray, int4Array, textArray, uuidArray } from "../writes/binary-array.sql.ts";

/** What a writer asks about runs; `run` is a place in `runIds`. */
export type MetricRunsQuery = {
  readonly orgId: string;
  readonly runIds: readonly string[];
  /** Of each run, whether the pages of its keys are wanted too. */
  readonly withPages: readonly boolean[];
  /** Keys whose ids are wanted. */
  readonly keys: readonly { readonly run: number; readonly key: string }[];
  readonly pages: readonly { readonly run: number; readonly page: number }[];
};

/** A run's metrics as they are stored; zeros where there are none. */
export type StoredRun = { readonly version: number; readonly keyCount: number; readonly pointCount: number };

/** The answer, of one moment. */
export type MetricRunsState = {
  /** In the order of `runIds`. */
  readonly runs: readonly StoredRun[];
  /** In the order of `keys`; -1 where the run does not have the key. */
  readonly keyIds: Int32Array;
  readonly pages: readonly { readonly run: number; readonly page: number; readonly stats: Float64Array }[];
};

type Row = {
  place: number | null;
  keyIds: Buffer | null;
  version: number;
  keyCount: number;
  pointCount: number;
  page: number | null;
  stats: Buffer;
};

const statement = binarySql(
  "ingest_load_metric_runs",
  `SELECT place, key_ids AS "keyIds", version, key_count AS "keyCount", point_count AS "pointCount", page, stats
   FROM ingest.metric_run_states($1, $2, $3, $4, $5, $6, $7)`,
);

const NEVER_WRITTEN: StoredRun = { version: 0, keyCount: 0, pointCount: 0 };

/** What the next writes to some runs have to know. */
export async function loadMetricRuns(tx: Tx, query: MetricRunsQuery): Promise<MetricRunsState> {
  const { orgId, runIds, withPages, keys, pages } = query;
  const rows = await tx.rows<Row>(statement, [
    orgId,
    uuidArray(runIds),
    boolArray(withPages),
    int4Array(keys.map(({ run }) => run + 1)),
    textArray(keys.map(({ key }) => key)),
    int4Array(pages.map(({ run }) => run + 1)),
    int4Array(pages.map(({ page }) => page)),
  ]);
  const runs: StoredRun[] = runIds.map(() => NEVER_WRITTEN);
  const found: { run: number; page: number; stats: Float64Array }[] = [];
  let keyIds = new Int32Array(0);
  for (const row of rows) {
    if (row.place === null) keyIds = int32sOf(row.keyIds);
    else if (row.page === null) {
      const { version, keyCount, pointCount } = row;
      runs[row.place - 1] = { version, keyCount, pointCount };
    } else found.push({ run: row.place - 1, page: row.page, stats: doublesOf(row.stats) });
  }
  return { runs, keyIds, pages: found };
}

const lock = sql("ingest_lock_metric_runs", "SELECT ingest.lock_metric_runs($1, $2)");

/** Makes all other writers of the runs wait until the transaction ends. */
export async function lockMetricRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  await tx.rows(lock, [orgId, uuidArray(runIds)]);
}

function int32sOf(bytes: Buffer | null): Int32Array<ArrayBuffer> {
  const numbers = new Int32Array((bytes?.length ?? 0) / 4);
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes!.readInt32BE(4 * i);
  return numbers;
}

/** Where the elements begin in the binary form of an array of one dimension, each after four bytes for its length. */
const ELEMENTS_AT = 20;

function doublesOf(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = new Float64Array((bytes.length - ELEMENTS_AT) / 12);
  for (let i = 0, at = ELEMENTS_AT + 4; i < numbers.length; i++, at += 12) numbers[i] = view.getFloat64(at);
  return numbers;
}

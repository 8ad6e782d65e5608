import {
  binarySql,
  boolArray,
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  readFloat8Array,
  sql,
  textArray,
  type Tx,
  uuidArray,
} from "@tidemark/pg";
import type { IdempotencyHashes } from "../../writes/write-outcome.sql.ts";
import type { PageChange } from "./run-draft.rules.ts";
import type { SortChange } from "./sort-changes.rules.ts";

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
export type StoredRun = { readonly version: number; readonly keyCount: number; readonly pointCount: number };

/** The stored state of runs, as of one moment. */
export type MetricRunsState = {
  /** In the order of `runIds`. */
  readonly runs: readonly StoredRun[];
  /** In the order of `keys`; -1 where the run does not have the key. */
  readonly keyIds: Int32Array;
  readonly pages: readonly { readonly run: number; readonly page: number; readonly numbers: Float64Array }[];
};

type StoredRow = {
  index: number | null;
  keyIds: Buffer | null;
  version: number;
  keyCount: number;
  pointCount: number;
  page: number | null;
  stats: Buffer;
};

const loadRuns = binarySql(
  "ingest_load_metric_runs",
  `SELECT index, key_ids AS "keyIds", version, key_count AS "keyCount", point_count AS "pointCount", page, stats
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
  const found: { run: number; page: number; numbers: Float64Array }[] = [];
  let keyIds = new Int32Array(0);
  for (const row of rows) {
    if (row.index === null) keyIds = int32sOf(row.keyIds);
    else if (row.page === null) {
      const { version, keyCount, pointCount } = row;
      runs[row.index - 1] = { version, keyCount, pointCount };
    } else found.push({ run: row.index - 1, page: row.page, numbers: readFloat8Array(row.stats) });
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

/** A run that a group writes to. */
export type GroupRun = {
  readonly runId: string;
  readonly projectId: string;
  /** The version that the draft is based on; 0: never written. */
  readonly version: number;
  readonly keyCount: number;
  readonly pointCount: number;
  /** How many of these points the group adds. */
  readonly pointsAdded: number;
  /** The minute of the last note that the run is unindexed, 0 when none is known. A group in a later minute leaves another note. */
  readonly notedMinute: number;
  /** Without the changes in `sortChanges`. */
  readonly newKeys: readonly { readonly key: string; readonly keyId: number; readonly minimize: boolean }[];
  readonly sortChanges: readonly SortChange[];
  readonly changes: readonly PageChange[];
  /** At least one. They get the versions after `version`, one by one. */
  readonly writes: readonly GroupWrite[];
};

/** One accepted request of a group. */
export type GroupWrite = {
  readonly idempotency: IdempotencyHashes | null;
  /** Its landing segment. */
  readonly segment: Uint8Array;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly valueCount: number;
  /** Seconds until a compactor should look at the run; null: this write leaves no dirty marker. */
  readonly markerSeconds: number | null;
};

/**
 * The outcome of a group. `keys`: these writes, by their index among the group's writes with an idempotency key, cannot be stored: a repeat, a
 * key that was used for another request, or a key that another transaction holds. `stale`: these runs now have other versions. `sort_keys`:
 * the organization now has other sort keys. Only `applied` wrote anything; its runs are noted as unindexed in that minute.
 */
export type GroupOutcome =
  | { readonly outcome: "applied"; readonly notedMinute: number }
  | { readonly outcome: "keys"; readonly keys: readonly UnusableKey[] }
  | { readonly outcome: "stale"; readonly runIds: readonly string[] }
  | { readonly outcome: "sort_keys" };

/** `inserted` is the reply to the first request. */
export type UnusableKey =
  | { readonly index: number; readonly state: "held" | "reused" }
  | { readonly index: number; readonly state: "replayed"; readonly inserted: number };

type OutcomeRow = {
  outcome: "applied" | "keys" | "stale" | "sort_keys";
  indexes: number[] | null;
  sameBodies: (boolean | null)[] | null;
  replies: (Buffer | null)[] | null;
  notedMinute: number | null;
};

// The statement cuts the pageChanges out of the array; the function would copy the whole array for each of them.
const appendGroup = sql(
  "ingest_append_metric_group",
  `SELECT outcome, indexes, same_bodies AS "sameBodies", old_replies AS "replies", noted_minute AS "notedMinute"
   FROM ingest.append_metric_group($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
     ARRAY(SELECT ROW(s.run, s.page, s.slot, ($21::float8[])[s.after + 1 : s.after + s.length])::ingest.aggregate_page_change
           FROM unnest($22::int4[], $23::int4[], $24::int4[], $25::int4[], $26::int4[]) AS s (run, page, slot, after, length)),
     $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38)`,
);

/** Stands for no dirty marker. */
const NO_MARKER = -1;

/** A group of writes of one organization. */
export type MetricGroup = {
  readonly orgId: string;
  /** In the order of their ids. */
  readonly runs: readonly GroupRun[];
  /** Which of the counters of its projects counts the group. No other group of this process uses it at the same time. */
  readonly pointsSlot: number;
  /** The version of the organization's sort keys that `sortChanges` are based on. */
  readonly sortKeysVersion: number;
};

/** Stores a group of writes, all or nothing. */
export async function appendMetricGroup(tx: Tx, group: MetricGroup): Promise<GroupOutcome> {
  const { orgId, runs, pointsSlot, sortKeysVersion } = group;
  // The statement counts runs from 1.
  const writes = runs.flatMap((run, i) => run.writes.map((write) => ({ ...write, run: i + 1 })));
  const seqs = runs.flatMap((run) => run.writes.map((_, i) => run.version + 1 + i));
  const keyed = writes.filter(({ idempotency }) => idempotency !== null);
  const newKeys = runs.flatMap((run, i) => run.newKeys.map((key) => ({ ...key, run: i + 1 })));
  const pageChanges = pageChangesOf(runs);
  const projects = addedByProject(runs);
  const sorted = runs.flatMap((run, i) => run.sortChanges.map((change) => ({ ...change, run: i + 1 })));
  const row = await tx.one<OutcomeRow>(appendGroup, [
    orgId,
    uuidArray(runs.map(({ runId }) => runId)),
    int8Array(runs.map(({ version }) => version)),
    int8Array(runs.map(({ version, writes: own }) => version + own.length)),
    int4Array(runs.map(({ keyCount }) => keyCount)),
    int8Array(runs.map(({ pointCount }) => pointCount)),
    int4Array(runs.map(({ notedMinute }) => notedMinute)),
    int4Array(writes.map(({ run }) => run)),
    int8Array(seqs),
    float8Array(writes.map(({ firstStep }) => firstStep)),
    float8Array(writes.map(({ lastStep }) => lastStep)),
    byteaArray(writes.map(({ segment }) => segment)),
    float8Array(writes.map(({ markerSeconds }) => markerSeconds ?? NO_MARKER)),
    byteaArray(keyed.map(({ idempotency }) => idempotency!.key)),
    byteaArray(keyed.map(({ idempotency }) => idempotency!.body)),
    byteaArray(keyed.map(({ valueCount }) => replyOf(valueCount))),
    int4Array(newKeys.map(({ run }) => run)),
    textArray(newKeys.map(({ key }) => key)),
    int4Array(newKeys.map(({ keyId }) => keyId)),
    boolArray(newKeys.map(({ minimize }) => minimize)),
    float8Array(pageChanges.numbers),
    int4Array(pageChanges.runs),
    int4Array(pageChanges.pages),
    int4Array(pageChanges.slots),
    int4Array(pageChanges.starts),
    int4Array(pageChanges.lengths),
    uuidArray(projects.map(({ projectId }) => projectId)),
    int8Array(projects.map(({ points }) => points)),
    int4Array(projects.map(({ series }) => series)),
    pointsSlot,
    sortKeysVersion,
    int4Array(sorted.map(({ run }) => run)),
    textArray(sorted.map(({ key }) => key)),
    int4Array(sorted.map(({ keyId }) => keyId)),
    boolArray(sorted.map(({ minimize }) => minimize)),
    boolArray(sorted.map(({ isNew }) => isNew)),
    float8Array(sorted.map(({ best }) => best)),
    float8Array(sorted.map(({ latest }) => latest)),
  ]);
  return outcomeOf(row!, runs);
}

type AddedToProject = { readonly projectId: string; points: number; series: number };

/** Returns how many values and series each project gets, in the order of the projects' ids. */
function addedByProject(runs: readonly GroupRun[]): AddedToProject[] {
  const added = new Map<string, AddedToProject>();
  for (const { projectId, pointsAdded, newKeys, sortChanges } of runs) {
    const project = added.get(projectId) ?? { projectId, points: 0, series: 0 };
    added.set(projectId, project);
    project.points += pointsAdded;
    project.series += newKeys.length + sortChanges.filter(({ isNew }) => isNew).length;
  }
  return [...added.values()].sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

function pageChangesOf(runs: readonly GroupRun[]) {
  const all = runs.flatMap(({ changes }, i) => changes.map((change) => ({ ...change, run: i + 1 })));
  const lengths = all.map((change) => change.numbers.length);
  const numbers = new Float64Array(lengths.reduce((sum, length) => sum + length, 0));
  const starts: number[] = [];
  let at = 0;
  for (const change of all) {
    starts.push(at);
    numbers.set(change.numbers, at);
    at += change.numbers.length;
  }
  return {
    runs: all.map(({ run }) => run),
    pages: all.map(({ page }) => page),
    slots: all.map(({ slot }) => slot),
    starts,
    lengths,
    numbers,
  };
}

/** Returns the reply that is kept for repeats: how many values were stored. */
function replyOf(valueCount: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(valueCount);
  return bytes;
}

/** Returns the number of values in a kept reply. */
export function insertedOf(reply: Uint8Array): number {
  return Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength).readInt32BE();
}

function outcomeOf(row: OutcomeRow, runs: readonly GroupRun[]): GroupOutcome {
  const { outcome, indexes, sameBodies, replies } = row;
  if (outcome === "applied") return { outcome, notedMinute: row.notedMinute! };
  if (outcome === "sort_keys") return { outcome };
  if (outcome === "stale") return { outcome, runIds: indexes!.map((ordinal) => runs[ordinal - 1]!.runId) };
  const keys = indexes!.map((ordinal, i): UnusableKey => {
    const index = ordinal - 1;
    const reply = replies![i];
    if (reply === null || reply === undefined) return { index, state: "held" };
    return sameBodies![i] === true
      ? { index, state: "replayed", inserted: insertedOf(reply) }
      : { index, state: "reused" };
  });
  return { outcome, keys };
}

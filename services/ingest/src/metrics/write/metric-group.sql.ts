import {
  binarySql,
  boolArray,
  composite,
  field,
  int4Array,
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

/** A key that its run does not have yet. */
type NewKey = { readonly key: string; readonly keyId: number; readonly minimize: boolean };

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
  readonly newKeys: readonly NewKey[];
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

const appendGroup = sql(
  "ingest_append_metric_group",
  `SELECT outcome, indexes, same_bodies AS "sameBodies", old_replies AS "replies", noted_minute AS "notedMinute"
   FROM ingest.append_metric_group($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

/** A part of a run, such as a new key of it. */
type OfRun<Part> = { readonly runId: string; readonly part: Part };

/** A write with its version of the run. */
type SeqWrite = { readonly runId: string; readonly seq: number; readonly write: GroupWrite };

/** What the arrays of ingest.append_metric_group hold, by the names of its parameters. */
export const groupTypes = {
  runs: composite<GroupRun>("ingest.metric_run_change", {
    run_id: field.uuid(({ runId }) => runId),
    version: field.int8(({ version }) => version),
    next_version: field.int8(({ version, writes }) => version + writes.length),
    key_count: field.int4(({ keyCount }) => keyCount),
    point_count: field.int8(({ pointCount }) => pointCount),
    noted_minute: field.int4(({ notedMinute }) => notedMinute),
  }),
  writes: composite<SeqWrite>("ingest.metric_write", {
    run_id: field.uuid(({ runId }) => runId),
    seq: field.int8(({ seq }) => seq),
    first_step: field.float8(({ write }) => write.firstStep),
    last_step: field.float8(({ write }) => write.lastStep),
    segment: field.bytea(({ write }) => write.segment),
  }),
  markers: composite<SeqWrite>("ingest.metric_marker", {
    run_id: field.uuid(({ runId }) => runId),
    seq: field.int8(({ seq }) => seq),
    due_seconds: field.float8(({ write }) => write.markerSeconds!),
  }),
  records: composite<SeqWrite>("platform.idempotency_record", {
    key: field.bytea(({ write }) => write.idempotency!.key),
    body: field.bytea(({ write }) => write.idempotency!.body),
    reply: field.bytea(({ write }) => replyOf(write.valueCount)),
  }),
  new_keys: composite<OfRun<NewKey>>("ingest.new_metric_key", {
    run_id: field.uuid(({ runId }) => runId),
    key: field.text(({ part }) => part.key),
    key_id: field.int4(({ part }) => part.keyId),
    minimise: field.bool(({ part }) => part.minimize),
  }),
  page_changes: composite<OfRun<PageChange>>("ingest.aggregate_page_change", {
    run_id: field.uuid(({ runId }) => runId),
    page: field.int4(({ part }) => part.page),
    slot: field.int4(({ part }) => part.slot),
    stats: field.float8Array(({ part }) => part.numbers),
  }),
  projects: composite<ProjectGrowth>("ingest.project_growth", {
    project_id: field.uuid(({ projectId }) => projectId),
    points: field.int8(({ points }) => points),
    series: field.int4(({ series }) => series),
  }),
  sort_changes: composite<OfRun<SortChange>>("ingest.sort_value_change", {
    run_id: field.uuid(({ runId }) => runId),
    key: field.text(({ part }) => part.key),
    key_id: field.int4(({ part }) => part.keyId),
    minimise: field.bool(({ part }) => part.minimize),
    is_new: field.bool(({ part }) => part.isNew),
    best: field.float8(({ part }) => part.best),
    latest: field.float8(({ part }) => part.latest),
  }),
};

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
  const writes = runs.flatMap(({ runId, version, writes: own }) =>
    own.map((write, i): SeqWrite => ({ runId, seq: version + 1 + i, write })),
  );
  const row = await tx.one<OutcomeRow>(appendGroup, [
    orgId,
    sortKeysVersion,
    pointsSlot,
    groupTypes.runs.array(runs),
    groupTypes.writes.array(writes),
    groupTypes.markers.array(writes.filter(({ write }) => write.markerSeconds !== null)),
    groupTypes.records.array(writes.filter(({ write }) => write.idempotency !== null)),
    groupTypes.new_keys.array(ofRuns(runs, (run) => run.newKeys)),
    groupTypes.page_changes.array(ofRuns(runs, (run) => run.changes)),
    groupTypes.projects.array(growthOf(runs)),
    groupTypes.sort_changes.array(ofRuns(runs, (run) => run.sortChanges)),
  ]);
  return outcomeOf(row!, runs);
}

function ofRuns<Part>(runs: readonly GroupRun[], partsOf: (run: GroupRun) => readonly Part[]): OfRun<Part>[] {
  return runs.flatMap((run) => partsOf(run).map((part) => ({ runId: run.runId, part })));
}

type ProjectGrowth = { readonly projectId: string; points: number; series: number };

/** Returns how many values and series each project gets, in the order of the projects' ids. */
function growthOf(runs: readonly GroupRun[]): ProjectGrowth[] {
  const projects = new Map<string, ProjectGrowth>();
  for (const { projectId, pointsAdded, newKeys: added, sortChanges } of runs) {
    const project = projects.get(projectId) ?? { projectId, points: 0, series: 0 };
    projects.set(projectId, project);
    project.points += pointsAdded;
    project.series += added.length + sortChanges.filter(({ isNew }) => isNew).length;
  }
  return [...projects.values()].sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
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

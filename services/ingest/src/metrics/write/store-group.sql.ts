import { sql, type Tx, composite, field } from "@tidemark/pg";
import type { PendingWrite } from "./pending-write.rules.ts";
import type { GroupPlan, RunPlan, NewKey, WritePlan } from "./plan-group.rules.ts";
import type { PageChange, SortChange } from "./run-change.rules.ts";

/**
 * The outcome of a group. `keys`: these writes cannot be stored. `stale`: these runs now have other versions. `sort_keys`: the organization now
 * has other sort keys. Only `applied` wrote anything; its runs are noted as unindexed in that minute.
 */
export type GroupOutcome =
  | { readonly outcome: "applied"; readonly notedMinute: number }
  | { readonly outcome: "keys"; readonly unusable: readonly UnusableKey[] }
  | { readonly outcome: "stale"; readonly runIds: readonly string[] }
  | { readonly outcome: "sort_keys" };

/** A write whose idempotency key another transaction has locked, or was used before: for another request, or for the same one, whose reply was `inserted`. */
export type UnusableKey =
  | { readonly request: PendingWrite; readonly key: "locked" | "reused" }
  | { readonly request: PendingWrite; readonly key: "repeated"; readonly inserted: number };

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

/**
 * Stores a group of writes of one organization, all or nothing. `pointsSlot` says which of the counters of its projects counts the group; no other group of this
 * process uses it at the same time.
 */
export async function storeGroup(tx: Tx, orgId: string, plan: GroupPlan, pointsSlot: number): Promise<GroupOutcome> {
  const { runs, sortKeysVersion } = plan;
  const writes = runs.flatMap(({ runId, version, writes: own }) =>
    own.map((write, i): SeqWrite => ({ runId, seq: version + 1 + i, write })),
  );
  const keyed = writes.filter(({ write }) => write.request.idempotency !== null);
  const row = await tx.one<OutcomeRow>(appendGroup, [
    orgId,
    sortKeysVersion,
    pointsSlot,
    groupRows.runs.array(runs),
    groupRows.writes.array(writes),
    groupRows.markers.array(writes.filter(({ write }) => write.markerSeconds !== null)),
    groupRows.records.array(keyed),
    groupRows.new_keys.array(ofRuns(runs, ({ newKeys }) => newKeys)),
    groupRows.page_changes.array(ofRuns(runs, ({ pageChanges }) => pageChanges)),
    groupRows.projects.array(growthOf(runs)),
    groupRows.sort_changes.array(ofRuns(runs, ({ sortChanges }) => sortChanges)),
  ]);
  return outcomeOf(
    row!,
    runs,
    keyed.map(({ write }) => write.request),
  );
}

function ofRuns<Part>(runs: readonly RunPlan[], partsOf: (run: RunPlan) => readonly Part[]): OfRun<Part>[] {
  return runs.flatMap((run) => partsOf(run).map((part) => ({ runId: run.runId, part })));
}

/** Returns how many values and series each project gets, in the order of the projects' ids. */
function growthOf(runs: readonly RunPlan[]): ProjectGrowth[] {
  const projects = new Map<string, ProjectGrowth>();
  for (const { projectId, pointsAdded, newKeys: added, sortChanges } of runs) {
    const project = projects.get(projectId) ?? { projectId, points: 0, series: 0 };
    projects.set(projectId, project);
    project.points += pointsAdded;
    project.series += added.length + sortChanges.filter(({ isNew }) => isNew).length;
  }
  return [...projects.values()].sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

function outcomeOf(row: OutcomeRow, runs: readonly RunPlan[], keyed: readonly PendingWrite[]): GroupOutcome {
  const { outcome, indexes, sameBodies, replies } = row;
  if (outcome === "applied") return { outcome, notedMinute: row.notedMinute! };
  if (outcome === "sort_keys") return { outcome };
  if (outcome === "stale") return { outcome, runIds: indexes!.map((ordinal) => runs[ordinal - 1]!.runId) };
  const unusable = indexes!.map((ordinal, i): UnusableKey => {
    const request = keyed[ordinal - 1]!;
    const reply = replies![i];
    if (reply === null || reply === undefined) return { request, key: "locked" };
    return sameBodies![i] === true
      ? { request, key: "repeated", inserted: insertedOf(reply) }
      : { request, key: "reused" };
  });
  return { outcome, unusable };
}

/** A part of a run, such as a new key of it. */
type OfRun<Part> = { readonly runId: string; readonly part: Part };

/** A write with the version that it gives to its run. */
type SeqWrite = { readonly runId: string; readonly seq: number; readonly write: WritePlan };

/** How many values and series a project gets. */
type ProjectGrowth = { readonly projectId: string; points: number; series: number };

/** What the arrays of ingest.append_metric_group hold, by the names of its parameters. */
export const groupRows = {
  runs: composite<RunPlan>("ingest.metric_run_change", {
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
    key: field.bytea(({ write }) => write.request.idempotency!.key),
    body: field.bytea(({ write }) => write.request.idempotency!.body),
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
    non_finite: field.float8Array(({ part }) => part.nonFinite ?? NOTHING),
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

/** Stands for numbers that do not change. */
const NOTHING = new Float64Array(0);

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

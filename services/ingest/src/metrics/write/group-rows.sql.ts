import { composite, field } from "@tidemark/pg";
import type { NewKey, RunPlan, WritePlan } from "./plan-group.rules.ts";
import type { PageChange } from "./run-change.rules.ts";
import type { SortChange } from "./sort-changes.rules.ts";

/** A part of a run, such as a new key of it. */
export type OfRun<Part> = { readonly runId: string; readonly part: Part };

/** A write with the version that it gives to its run. */
export type SeqWrite = { readonly runId: string; readonly seq: number; readonly write: WritePlan };

/** How many values and series a project gets. */
export type ProjectGrowth = { readonly projectId: string; points: number; series: number };

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

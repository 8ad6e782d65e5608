import { binarySql, byteaArray, int4Array, int8Array, sql, type Db, type Tx } from "@tidemark/pg";
import type { EncodedSegment } from "../state/segments.rules.ts";
import type { TraceKey } from "../state/trace-state.rules.ts";

const claimSql = sql(
  "traces_claim_compaction_work",
  `UPDATE traces.compaction_work w SET due_at = now() + make_interval(secs => $2)
   FROM (SELECT org_id, trace_id, run_id FROM traces.compaction_work WHERE due_at <= now() ORDER BY due_at LIMIT $1) due
   WHERE w.org_id = due.org_id AND w.trace_id = due.trace_id AND w.run_id = due.run_id AND w.due_at <= now()
   RETURNING w.org_id AS "orgId", w.trace_id AS "traceId", w.run_id AS "runId"`,
);

/** Claims the traces that have been due longest for some seconds; after these another process may have them. `workerDb` runs as the worker. */
export async function claimTraces(workerDb: Db, countMax: number, leaseSeconds: number): Promise<TraceKey[]> {
  const rows = await workerDb.rows<TraceKey>(claimSql, [countMax, leaseSeconds]);
  return rows.map(({ orgId, runId, traceId }) => ({ orgId, runId, traceId: traceId.replaceAll("-", "") }));
}

const postponeSql = sql(
  "traces_postpone_compaction",
  `UPDATE traces.compaction_work SET due_at = now() + make_interval(secs => $4) WHERE org_id = $1 AND trace_id = $2 AND run_id = $3`,
);

/** Lets a claimed trace be looked at again after some seconds. `workerDb` runs as the worker. */
export async function postpone(workerDb: Db, key: TraceKey, seconds: number): Promise<void> {
  await workerDb.rows(postponeSql, [key.orgId, key.traceId, key.runId, seconds]);
}

/** The facts about a trace that a compactor needs. */
export type TraceRest = {
  readonly version: number;
  readonly segments: number;
  /** How many of the segments were made by compaction. */
  readonly compacted: number;
  readonly quietSeconds: number;
};

const restSql = sql(
  "traces_find_trace_rest",
  `SELECT version, segments, compacted, extract(epoch FROM now())::float8 - updated_us / 1e6 AS "quietSeconds"
   FROM traces.traces WHERE org_id = $1 AND trace_id = $2 AND run_id = $3`,
);

/** Returns how long a trace has received no events, if it exists. */
export function findRest(tx: Tx, key: TraceKey): Promise<TraceRest | undefined> {
  return tx.one(restSql, [key.orgId, key.traceId, key.runId]);
}

const weighSql = sql(
  "traces_weigh_segments",
  `SELECT id, octet_length(tree) + octet_length(payloads) AS bytes FROM traces.segments
   WHERE org_id = $1 AND trace_id = $2 AND run_id = $3 ORDER BY id`,
);

/** Returns the bytes of the segments of a trace in their order, without reading them. */
export async function weighSegments(tx: Tx, key: TraceKey): Promise<number[]> {
  const rows = await tx.rows<{ bytes: number }>(weighSql, [key.orgId, key.traceId, key.runId]);
  return rows.map(({ bytes }) => bytes);
}

const finishSql = sql(
  "traces_finish_compaction",
  `DELETE FROM traces.compaction_work w
   USING (SELECT t.version FROM traces.traces t WHERE t.org_id = $1 AND t.trace_id = $2 AND t.run_id = $3 FOR UPDATE) t
   WHERE w.org_id = $1 AND w.trace_id = $2 AND w.run_id = $3 AND t.version = $4`,
);

/** Ends the work on a trace that stays unchanged, unless events were added. */
export async function finishWork(tx: Tx, key: TraceKey, version: number): Promise<void> {
  await tx.rows(finishSql, [key.orgId, key.traceId, key.runId, version]);
}

const replaceSql = sql(
  "traces_replace_segments",
  "SELECT traces.replace_segments($1, $2, $3, $4, $5, $6, $7, $8) AS replaced",
);

/** Replaces all segments of a trace with compacted ones; returns false when events were added meanwhile. */
export async function replaceSegments(
  tx: Tx,
  key: TraceKey,
  version: number,
  segments: readonly EncodedSegment[],
): Promise<boolean> {
  const row = await tx.one<{ replaced: boolean }>(replaceSql, [
    key.orgId,
    key.traceId,
    key.runId,
    version,
    int8Array(segments.map((_, i) => version + i + 1)),
    byteaArray(segments.map(({ tree }) => tree)),
    byteaArray(segments.map(({ payloads }) => payloads)),
    int4Array(segments.map(({ bytes }) => bytes)),
  ]);
  return row!.replaced;
}

const payloadsSql = binarySql(
  "traces_list_all_payloads",
  "SELECT id, payloads FROM traces.segments WHERE org_id = $1 AND trace_id = $2 AND run_id = $3 ORDER BY id",
);

/** Calls `take` with the packed payloads of each segment of a trace, in their order. The bytes are valid until it returns. */
export async function eachPayloads(
  tx: Tx,
  { orgId, traceId, runId }: TraceKey,
  take: (row: { readonly id: number; readonly payloads: Uint8Array }) => void,
): Promise<void> {
  await tx.each(payloadsSql, [orgId, traceId, runId], take);
}

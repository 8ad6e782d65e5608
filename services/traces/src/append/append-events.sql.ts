import {
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  sql,
  sqlState,
  textArray,
  uuidArray,
  type Tx,
} from "@tidemark/pg";
import { writeSummaryRest, type TraceSummary } from "../fold/summary.rules.ts";
import type { EncodedSegment } from "../state/segments.rules.ts";

/** Hashes of an idempotency key and of the request that was sent with it. */
export type KeyHashes = { readonly key: Uint8Array; readonly body: Uint8Array };

/** The written parts of one trace. */
export type TraceChange = {
  readonly traceId: string;
  /** The version that the caller knows; 0: the trace does not exist. Its segments get the next ids. */
  readonly version: number;
  /** How many segments the trace has with the new ones. */
  readonly segmentCount: number;
  readonly segments: readonly EncodedSegment[];
  readonly summary: TraceSummary;
};

/** The events of one request as they are stored. */
export type AppendWrite = {
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  readonly idempotency: KeyHashes | null;
  readonly answer: Uint8Array;
  readonly eventCount: number;
  /** Ascending by id. */
  readonly traces: readonly TraceChange[];
  /** After how many seconds a compactor looks at traces that have several segments. */
  readonly workSeconds: number;
  /** When each trace was last written where that was before now, in microseconds since the Unix epoch; 0 does not change it. Null: now. */
  readonly restoredUs: readonly number[] | null;
};

/** The result of a write; see the function in the schema. */
export type AppendOutcome =
  | { readonly outcome: "inserted"; readonly updated: number }
  | { readonly outcome: "replayed"; readonly old_answer: Uint8Array }
  | { readonly outcome: "reused" | "stale" };

const appendSql = sql(
  "traces_append_events",
  `SELECT outcome, old_answer, updated
   FROM traces.append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`,
);

/** Stores the events of a request in one round trip, all or none. */
export async function appendEvents(tx: Tx, write: AppendWrite): Promise<AppendOutcome> {
  const { traces } = write;
  const of = <T>(pick: (summary: TraceSummary) => T): T[] => traces.map(({ summary }) => pick(summary));
  const segments = traces.flatMap((trace, i) =>
    trace.segments.map((segment, at) => ({ ...segment, trace: i + 1, id: trace.version + at + 1 })),
  );
  try {
    const row = await tx.one<AppendOutcome>(appendSql, [
      write.orgId,
      write.runId,
      write.projectId,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      write.answer,
      uuidArray(traces.map(({ traceId }) => traceId)),
      int8Array(traces.map(({ version }) => version)),
      int8Array(traces.map((trace) => trace.version + trace.segments.length)),
      int4Array(traces.map(({ segmentCount }) => segmentCount)),
      int8Array(of(({ startedUs }) => startedUs)),
      int4Array(of(({ status }) => status)),
      int4Array(of(({ kindBits }) => kindBits)),
      float8Array(of(({ minStep }) => minStep)),
      textArray(of(({ rootName }) => rootName)),
      textArray(of(({ threadId }) => threadId)),
      textArray(of(({ rolloutId }) => rolloutId)),
      byteaArray(of(writeSummaryRest)),
      int4Array(segments.map(({ trace }) => trace)),
      int8Array(segments.map(({ id }) => id)),
      byteaArray(segments.map(({ tree }) => tree)),
      byteaArray(segments.map(({ payloads }) => payloads)),
      int4Array(segments.map(({ bytes }) => bytes)),
      write.workSeconds,
      write.restoredUs === null ? null : int8Array([...write.restoredUs]),
      write.eventCount,
    ]);
    return row!;
  } catch (error) {
    if (sqlState(error) === "TM010") return { outcome: "stale" };
    throw error;
  }
}

const lockSql = sql(
  "traces_lock_traces",
  `SELECT FROM unnest($2::uuid[]) AS w (id)
   CROSS JOIN LATERAL (SELECT t.version FROM traces.traces t
                       WHERE t.org_id = $1 AND t.trace_id = w.id AND t.run_id = $3 OFFSET 0 FOR UPDATE) o`,
);

/** Locks the traces that exist, so that no other process changes them; the ids ascend. */
export async function lockTraces(tx: Tx, orgId: string, runId: string, traceIds: readonly string[]): Promise<void> {
  await tx.rows(lockSql, [orgId, uuidArray(traceIds), runId]);
}

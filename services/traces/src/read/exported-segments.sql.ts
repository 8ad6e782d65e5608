import { binarySql, sql, type Tx } from "@tidemark/pg";

/** A trace of a run; the id is a UUID. */
export type StoredTrace = { readonly traceId: string; readonly startedUs: number; readonly updatedUs: number };

const listTraces = sql(
  "traces_export_traces",
  `SELECT t.trace_id AS "traceId", t.started_us AS "startedUs", t.updated_us AS "updatedUs" FROM traces.traces t
   WHERE t.org_id = $1 AND t.run_id = $2 AND (t.started_us, t.trace_id) > ($3::bigint, $4::uuid)
   ORDER BY t.started_us, t.trace_id LIMIT 500`,
);

/** Reads the traces of a run by start. */
export async function* readTracesOfRun(
  tx: Tx,
  orgId: string,
  runId: string,
): AsyncGenerator<StoredTrace, void, undefined> {
  let after = ["-9223372036854775808", "00000000-0000-0000-0000-000000000000"];
  for (;;) {
    const rows = await tx.rows<StoredTrace>(listTraces, [orgId, runId, ...after]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [String(BigInt(last.startedUs)), last.traceId];
  }
}

/** A segment: tree columns and packed payloads of its records. */
export type StoredSegment = { readonly id: number; readonly tree: Buffer; readonly payloads: Buffer };

/** Segments have at most some hundreds of kilobytes. */
const listSegments = binarySql(
  "traces_export_segments",
  `SELECT s.id, s.tree, s.payloads FROM traces.segments s
   WHERE s.org_id = $1 AND s.trace_id = $2 AND s.run_id = $3 AND s.id > $4::bigint ORDER BY s.id LIMIT 16`,
);

/** Reads the segments of a trace in the order of their arrival. */
export async function* readSegmentsOfTrace(
  tx: Tx,
  orgId: string,
  runId: string,
  traceId: string,
): AsyncGenerator<StoredSegment, void, undefined> {
  let after = -1;
  for (;;) {
    const rows = await tx.rows<StoredSegment>(listSegments, [orgId, traceId, runId, after]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

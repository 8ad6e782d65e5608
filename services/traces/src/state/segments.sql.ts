import { binarySql, sql, type Tx, int8Array } from "@tidemark/pg";
import { readTree, createByteReader, readPayload, skipPayload, unpack, type SpanPayload } from "@tidemark/codecs/spans";
import { mapInTurns } from "@tidemark/work";
import type { TraceKey, TraceState } from "./trace-state.rules.ts";
import type { PayloadPlace } from "../fold/span-table.rules.ts";

/** The data of a trace row about its segments. */
type TraceVersion = { readonly version: number; readonly segments: number; readonly updatedUs: number };

const versionSql = sql(
  "traces_find_trace_version",
  `SELECT version, segments, updated_us AS "updatedUs" FROM traces.traces WHERE org_id = $1 AND trace_id = $2 AND run_id = $3`,
);

/** Returns the version of a trace, if there is one. */
function findTraceVersion(tx: Tx, key: TraceKey): Promise<TraceVersion | undefined> {
  return tx.one(versionSql, [key.orgId, key.traceId, key.runId]);
}

const treesSql = binarySql(
  "traces_list_trees",
  `SELECT id, tree FROM traces.segments
   WHERE org_id = $1 AND trace_id = $2 AND run_id = $3 AND id > $4 ORDER BY id`,
);

/**
 * Folds the records stored since into a state, with one statement. Compacted segments in the place of others that the state has already do no harm: they
 * hold the same data. Returns false when there is no such trace. `tx` sees one moment.
 */
export async function catchUp(tx: Tx, key: TraceKey, state: TraceState): Promise<boolean> {
  const stored = await findTraceVersion(tx, key);
  if (stored === undefined) return false;
  if (stored.version > state.version) {
    const trees: { readonly id: number; readonly tree: Uint8Array }[] = [];
    // Copies, because the memory is used again. Many that are packed well arrive together, and would all be folded before other work has its turn.
    await tx.each<{ id: number; tree: Uint8Array }>(
      treesSql,
      [key.orgId, key.traceId, key.runId, state.version],
      ({ id, tree }) => trees.push({ id, tree: Uint8Array.from(tree) }),
    );
    await mapInTurns(trees, ({ id, tree }) => readTree(tree, (record, place) => state.fold.fold(record, id, place)));
    state.fold.settle();
    state.version = stored.version;
    state.segments = stored.segments;
    state.updatedUs = stored.updatedUs;
  }
  return true;
}

const payloadsSql = binarySql(
  "traces_list_payloads",
  `SELECT s.id, s.payloads FROM unnest($4::bigint[]) AS w (id)
   CROSS JOIN LATERAL (SELECT o.id, o.payloads FROM traces.segments o
                       WHERE o.org_id = $1 AND o.trace_id = $2 AND o.run_id = $3 AND o.id = w.id OFFSET 0) s`,
);

/** Returns the payloads at these places, in their order; undefined when a segment is missing, because the trace has been compacted meanwhile. */
export async function readPayloads(
  tx: Tx,
  key: TraceKey,
  places: readonly PayloadPlace[],
): Promise<SpanPayload[] | undefined> {
  const bySegment = Map.groupBy(
    places.map((place, i) => ({ ...place, i })),
    ({ segment }) => segment,
  );
  const found: SpanPayload[] = [];
  const read = ({ id, payloads }: PackedPayloads): void => {
    const from = createByteReader(unpack(payloads));
    let at = 0;
    for (const { place, i } of bySegment.get(id)!.toSorted((a, b) => a.place - b.place)) {
      for (; at < place; at++) skipPayload(from);
      found[i] = copyPayload(readPayload(from));
      at += 1;
    }
  };
  let segments = 0;
  const small: PackedPayloads[] = [];
  await tx.each<PackedPayloads>(
    payloadsSql,
    [key.orgId, key.traceId, key.runId, int8Array([...bySegment.keys()])],
    ({ id, payloads }) => {
      segments += 1;
      // A copy, because the memory is used again.
      if (payloads.length < SMALL_BYTES) small.push({ id, payloads: Uint8Array.from(payloads) });
      else read({ id, payloads });
    },
  );
  await mapInTurns(small, read);
  return segments === bySegment.size ? found : undefined;
}

type PackedPayloads = { readonly id: number; readonly payloads: Uint8Array };

/** Smaller segments arrive in large numbers at a time. They are read afterwards, in turns, because unpacking all of them would keep other requests waiting. */
const SMALL_BYTES = 16 * 1024;

/** Copies the documents of a payload that was read, because they are in memory that is used again. */
export function copyPayload(payload: SpanPayload): SpanPayload {
  const { attributesJson, metricsJson, linksJson } = payload;
  return {
    ...payload,
    attributesJson: Uint8Array.from(attributesJson),
    metricsJson: Uint8Array.from(metricsJson),
    linksJson: Uint8Array.from(linksJson),
  };
}

/** A trace of a run; the id is a UUID. */
type StoredTrace = { readonly traceId: string; readonly startedUs: number; readonly updatedUs: number };

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

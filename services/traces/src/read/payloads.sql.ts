import { binarySql, int8Array, type Tx } from "@tidemark/pg";
import { createByteReader, readPayload, skipPayload, unpack, type SpanPayload } from "@tidemark/codecs/spans";
import { mapInTurns } from "@tidemark/work";
import type { PayloadPlace } from "../fold/span-table.rules.ts";
import type { TraceKey } from "../state/trace-state.rules.ts";

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

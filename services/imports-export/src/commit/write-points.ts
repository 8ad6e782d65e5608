import { AppError, isReason } from "@tidemark/errors";
import type { MetricColumns } from "@tidemark/metric-codec";
import type { Refusal } from "@tidemark/proto/common/v1/common";
import type { CallWithRetry } from "../jobs/call-with-retry.ts";
import type { CommitClients } from "./clients.ts";
import { slicesOf } from "./slices.rules.ts";

/** Points of a run under the name of their write: the same name has the same points. */
export type PointsWrite = { readonly runId: string; readonly name: string; readonly columns: MetricColumns };

/** The most writes that may share a call. */
const WRITES_TOGETHER_MAX = 64;

/** Stores points, as packed segments, and returns the number of their values. A repeat stores nothing and returns the same. */
export async function writePoints(
  { ingest }: Pick<CommitClients, "ingest">,
  callWithRetry: CallWithRetry,
  writes: readonly PointsWrite[],
): Promise<number> {
  let stored = 0;
  for (const slice of slicesOf(writes, WRITES_TOGETHER_MAX)) {
    const messages = slice.map(({ runId, name, columns }) => ({
      runId,
      idempotencyKey: name,
      batch: true,
      columns: messageOf(columns),
    }));
    stored += await callWithRetry(async (call) => {
      const { outcomes } = await ingest.appendMetricsTogether({ writes: messages }, call);
      let inserted = 0;
      for (const [i, { outcome }] of outcomes.entries()) {
        if (outcome.case === "stored") inserted += outcome.value.inserted;
        else if (outcome.case === "refused") throw errorOf(outcome.value);
        else inserted += (await ingest.appendMetrics(messages[i]!, call)).inserted;
      }
      return inserted;
    });
  }
  return stored;
}

/** Typed arrays as packed fields, without a copy: the encoder only counts and indexes them, though the declaration says array. */
function messageOf({ keys, steps, timestampsUs, values, offsets, pointIndexes }: MetricColumns) {
  const packed = (column: Float64Array | Uint32Array): number[] => column as unknown as number[];
  return {
    keys: [...keys],
    steps: packed(steps),
    timestampsUs: packed(timestampsUs),
    values: packed(values),
    offsets: packed(offsets),
    pointIndexes: packed(pointIndexes),
  };
}

function errorOf({ detail, text }: Refusal): AppError {
  const reason = detail?.reason ?? "";
  return new AppError(isReason(reason) ? reason : "internal", text);
}

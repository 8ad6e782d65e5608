import type { MetricColumns } from "@tidemark/metric-codec";
import type { IdempotencyHashes } from "../writes/write-outcome.sql.ts";

/** One accepted request of metric points, of a run that exists and that the caller may write to. */
export type MetricWrite = {
  readonly orgId: string;
  readonly runId: string;
  readonly columns: MetricColumns;
  /** A digest of the list of keys. */
  readonly keySet: string;
  readonly idempotency: IdempotencyHashes | null;
  /** Whether it waits while another write holds its key. */
  readonly waits: boolean;
};

/** What a write was answered: how many values were stored, now or by the first request with its key. */
export type MetricReply = { readonly inserted: number; readonly replayed: boolean };

/** A write in the queue. */
export type PendingWrite = MetricWrite & {
  /** About what it takes in memory and in the database. */
  readonly bytes: number;
  /** Seconds after which a compactor shall look at the run; undefined until that was decided, null: it need not for this write. */
  markerSeconds: number | null | undefined;
  readonly resolve: (reply: MetricReply) => void;
  readonly reject: (error: Error) => void;
};

/** Of a write without its keys and arrays. */
const WRITE_BYTES = 1024;

/** About what a write takes in memory and in the database. */
export function bytesOfWrite({ keys, steps, timestampsUs, values, offsets, pointIndexes }: MetricColumns): number {
  let bytes = WRITE_BYTES + steps.byteLength + timestampsUs.byteLength + values.byteLength;
  bytes += offsets.byteLength + pointIndexes.byteLength;
  for (const key of keys) bytes += 2 * key.length;
  return bytes;
}

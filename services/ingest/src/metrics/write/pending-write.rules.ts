import type { MetricColumns } from "@tidemark/codecs/metrics";
import type { DirtyMarkers } from "../../compaction/dirty-markers.rules.ts";
import type { IdempotencyHashes } from "../../writes/writes.rules.ts";

/** One accepted request of metric points, of a run that exists and that the caller may write to. */
export type MetricWrite = {
  readonly orgId: string;
  /** The run's project. */
  readonly projectId: string;
  readonly runId: string;
  readonly columns: MetricColumns;
  /** A digest of the list of keys. */
  readonly keySet: string;
  readonly idempotency: IdempotencyHashes | null;
  /** Whether it waits while another write holds its idempotency key. */
  readonly waits: boolean;
};

/** The reply to a write: how many values were stored, now or by the first request with its idempotency key. */
export type MetricReply = { readonly inserted: number; readonly replayed: boolean };

/** A write in the queue. */
export type PendingWrite = MetricWrite & {
  /** About how many bytes it takes in memory and in the database. */
  readonly bytes: number;
  marker: MarkerState;
  readonly resolve: (reply: MetricReply) => void;
  readonly reject: (error: Error) => void;
};

/**
 * Whether a pending write leaves a dirty marker of its run. It is decided before the write is first planned; after that it changes only when another
 * write has to leave the marker instead, or when the write is stored alone. Only the functions of this file read or change it.
 */
export type MarkerState =
  | { readonly kind: "undecided" }
  | { readonly kind: "none" }
  /** The compactor should look at the run after this many seconds. */
  | { readonly kind: "due"; readonly afterSeconds: number };

const UNDECIDED: MarkerState = { kind: "undecided" };
const NONE: MarkerState = { kind: "none" };

/** The bytes of a write without its keys and arrays. */
const WRITE_BYTES = 1024;

/** Returns about how many bytes a write takes in memory and in the database. */
export function bytesOfWrite(columns: MetricColumns): number {
  const { keys, steps, timestampsUs, receivedUs, values, offsets, pointIndexes } = columns;
  let bytes = WRITE_BYTES + steps.byteLength + timestampsUs.byteLength + values.byteLength;
  bytes += offsets.byteLength + pointIndexes.byteLength + (receivedUs?.byteLength ?? 0);
  for (const key of keys) bytes += 2 * key.length;
  return bytes;
}

/** Makes a pending write with an undecided marker. It is answered exactly once; a marker that it was to leave but did not is forgotten. */
export function createPendingWrite(
  write: MetricWrite,
  bytes: number,
  markers: DirtyMarkers,
  answer: { readonly resolve: (reply: MetricReply) => void; readonly reject: (error: Error) => void },
): PendingWrite {
  const pending: PendingWrite = {
    ...write,
    bytes,
    marker: UNDECIDED,
    resolve: (reply) => {
      if (reply.replayed) forgetMarker(pending, markers);
      answer.resolve(reply);
    },
    reject: (error) => {
      forgetMarker(pending, markers);
      answer.reject(error);
    },
  };
  return pending;
}

/** Decides whether a write leaves a marker, unless that is decided. */
export function decideMarker(write: PendingWrite, markers: DirtyMarkers): void {
  if (write.marker.kind !== "undecided") return;
  const afterSeconds = markers.next(write.runId, write.bytes);
  write.marker = afterSeconds === null ? NONE : { kind: "due", afterSeconds };
}

/** Returns the seconds until the compactor should look at the run; null when the write leaves no marker. It is decided. */
export function markerSecondsOf({ marker }: PendingWrite): number | null {
  return marker.kind === "due" ? marker.afterSeconds : null;
}

/** Lets another write of the same run leave the marker of a write that is not stored: a written run must not lack its marker. */
export function passMarkerOn(from: PendingWrite, to: readonly PendingWrite[]): void {
  if (from.marker.kind !== "due") return;
  const heir = to.find((write) => write.runId === from.runId && write.marker.kind === "none");
  if (heir !== undefined) heir.marker = from.marker;
}

/** Makes a write that was to leave no marker decide again, because the write that was to leave the marker may not be stored. */
export function decideMarkerAgain(write: PendingWrite): void {
  if (write.marker.kind === "none") write.marker = UNDECIDED;
}

function forgetMarker({ runId, marker }: PendingWrite, markers: DirtyMarkers): void {
  if (marker.kind === "due") markers.forget(runId);
}

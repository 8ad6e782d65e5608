import { bytesOfColumn } from "@tidemark/archive";

/** Returns the bytes of the times that a client sent, none if it sent no time at all. */
export function bytesOfTimestamps(timestamp: Float64Array | undefined): Uint8Array {
  return timestamp === undefined ? new Uint8Array() : bytesOfColumn(timestamp);
}

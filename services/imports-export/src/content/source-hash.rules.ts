import { hash } from "node:crypto";

/** Bytes of these hashes. */
export const HASH_BYTES = 16;

/** Returns 16 bytes that stand for the id of a run at its source, which may be long. */
export function hashSourceId(id: string): Buffer {
  return hash("sha256", id, "buffer").subarray(0, HASH_BYTES);
}

/** Returns 16 bytes that stand for a run of a source, independent of the job that contains it. */
export function hashIdentity(sourceType: string, sourceProject: string | null, sourceHash: Uint8Array): Buffer {
  const text = JSON.stringify([sourceType, sourceProject ?? sourceType, Buffer.from(sourceHash).toString("hex")]);
  return hash("sha256", text, "buffer").subarray(0, HASH_BYTES);
}

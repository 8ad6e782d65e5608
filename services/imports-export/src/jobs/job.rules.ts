import { isAppError } from "@tidemark/errors";

/** Why a job has failed permanently. `position`: the faulty line. */
export type JobFault = { readonly code: string; readonly message: string; readonly position: number | null };

/** Returns the fault that an error describes for the caller; undefined when it describes none. */
export function knownFault(error: unknown): JobFault | undefined {
  if (!isAppError(error) || error.reason === "internal") return undefined;
  return { code: error.reason, message: error.message, position: error.position ?? null };
}

/** A part of a commit that is marked when it is stored: the runs of a chunk, or all their data. */
export type Batch = { readonly part: "runs" | "data"; readonly sequence: number };

/** Returns how many batches the commit of a job has: first the runs of all chunks, then the data of all chunks. */
export function batchesOf(chunks: number): number {
  return 2 * chunks;
}

/** Returns a batch by its number, from 0. */
export function batchAt(number: number, chunks: number): Batch {
  return number < chunks ? { part: "runs", sequence: number } : { part: "data", sequence: number - chunks };
}

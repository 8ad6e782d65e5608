import { isAppError } from "@tidemark/errors";

/** Why a job has failed permanently. `position`: the faulty line. */
export type JobFault = { readonly code: string; readonly message: string; readonly position: number | null };

/** Returns the fault that an error describes for the caller; undefined when it describes none. */
export function knownFault(error: unknown): JobFault | undefined {
  if (!isAppError(error) || error.reason === "internal") return undefined;
  return { code: error.reason, message: error.message, position: error.position ?? null };
}

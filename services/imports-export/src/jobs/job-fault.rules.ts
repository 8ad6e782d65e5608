import { isAppError } from "@tidemark/errors";

/** Why a job has failed for good. `position`: the line that is at fault. */
export type JobFault = { readonly code: string; readonly message: string; readonly position: number | null };

/** Returns the fault that an error says in words for the caller; undefined when it says none. */
export function knownFault(error: unknown): JobFault | undefined {
  if (!isAppError(error) || error.reason === "internal") return undefined;
  return { code: error.reason, message: error.message, position: error.position ?? null };
}

import type { RunStatus } from "./run-state.ts";

/** One entry of a run's lifecycle: a resume brought it from `statusFrom` back to `statusTo` at `at`. A status set by PATCH leaves no entry. */
export type LifecycleEntry = {
  readonly statusFrom: RunStatus;
  readonly statusTo: RunStatus;
  readonly at: Date;
  readonly kind: "resume";
};

/** A run keeps its last 20 lifecycle entries. */
export const LIFECYCLE_ENTRIES_MAX = 20;

/** The entries with `entry` added at the end and the oldest dropped, so that at most {@link LIFECYCLE_ENTRIES_MAX} remain. The input stays as it is. */
export function appendLifecycle<Entry>(entries: readonly Entry[], entry: Entry): Entry[] {
  return [...entries, entry].slice(-LIFECYCLE_ENTRIES_MAX);
}

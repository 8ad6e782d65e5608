import type { ControlDeps, ControlHandlers } from "./deps.ts";

/** Waits until memory holds every change to runs that was committed before the call. */
export function catchUpRuns({ runs }: ControlDeps): ControlHandlers["catchUpRuns"] {
  return async () => {
    await runs.catchUp();
    return {};
  };
}

import type { Tx } from "@tidemark/pg";
import { appendLifecycle, applyRunEvent, instantText, type RunEvent } from "@tidemark/run-state";
import type { LockedRun } from "../store/lock-run-state.ts";
import { setRunState } from "../store/set-run-state.ts";

/** Applies an event to a run that this transaction has locked, and writes what it changed. */
export async function moveRun(tx: Tx, orgId: string, runId: string, locked: LockedRun, event: RunEvent): Promise<void> {
  const { state, changed, lifecycle: entry } = applyRunEvent(locked.state, event, locked.at);
  if (!changed) return;
  const lifecycle =
    entry === null
      ? undefined
      : appendLifecycle(locked.lifecycle, {
          status_from: entry.statusFrom,
          status_to: entry.statusTo,
          at: instantText(entry.at),
          kind: entry.kind,
        });
  await setRunState(tx, orgId, runId, state, lifecycle);
}

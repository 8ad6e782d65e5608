import { call } from "../../api/client.ts";
import { attempt } from "../../ui/fault.ts";
import { toast } from "../../ui/toast.tsx";
import type { Changes } from "../../api/use-changes.ts";
import type { RunDetail } from "../../api/run-types.ts";
import { runTabs, type RunTab } from "../../app/addresses.ts";

const pathOf = (runId: string): string => `/runs/${encodeURIComponent(runId)}`;

/** The fields of a run that a user can change. */
type RunChange = { readonly name?: string; readonly tags?: readonly string[]; readonly notes?: string | null };

/** Changes a run; the note about the change can restore the previous values. */
export async function changeRun(
  runId: string,
  change: RunChange,
  before: RunChange,
  told: string,
  then: () => void,
): Promise<void> {
  await call(pathOf(runId), { method: "PATCH", body: change });
  then();
  toast(told, {
    undo: () => void attempt(async () => void (await call(pathOf(runId), { method: "PATCH", body: before })), then),
  });
}

/** Asks the training of a run to stop. */
export async function requestStop(runId: string, reason: string): Promise<void> {
  await call(`/api/runs/${encodeURIComponent(runId)}/stop`, {
    body: reason.trim() === "" ? {} : { reason: reason.trim() },
  });
}

/** What is deleted with a run. */
export type DeletionCounts = { readonly counts: Readonly<Record<string, number>>; readonly bytes: number };

/** Says what deleting a run would take with it. */
export function countDeletion(runId: string): Promise<DeletionCounts> {
  return call<DeletionCounts>(`${pathOf(runId)}?dry_run=true`, { method: "DELETE" });
}

/** Deletes a run; it can be restored from the note about it, and for 30 days from the list of deleted runs. */
export async function deleteRun(runId: string, name: string, then: () => void, restored: () => void): Promise<void> {
  await call(pathOf(runId), { method: "DELETE" });
  then();
  toast(`Deleted ${name}.`, {
    undo: () => void attempt(async () => void (await call(`${pathOf(runId)}/restore`, { method: "POST" })), restored),
  });
}

/** The options of a fork. */
type ForkOptions = { readonly name?: string; readonly step?: number; readonly notes?: string };

/** Forks a run and returns the id of its child. */
export async function forkRun(runId: string, options: ForkOptions): Promise<string> {
  const { run } = await call<{ run: { id: string } }>(`/api/runs/${encodeURIComponent(runId)}/forks`, {
    body: options,
  });
  return run.id;
}

/** The tabs of a run with what they are called, in the order of their keys. */
export const RUN_TABS = runTabs.map((id) => ({ id, label: `${id.charAt(0).toUpperCase()}${id.slice(1)}` }));

/** Returns the tab that an address names; the overview where it names none. */
export function runTabOf(name: string | undefined): RunTab {
  return RUN_TABS.find(({ id }) => id === name)?.id ?? "overview";
}

/** The props of every tab of a run. */
export type TabProps = {
  readonly run: RunDetail;
  readonly changes: Changes;
  readonly canWrite: boolean;
  /** Reads the run again after a change of one's own. */
  readonly reload: () => void;
};

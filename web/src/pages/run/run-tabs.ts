import type { Changes } from "../../api/use-changes.ts";
import type { RunDetail } from "../../api/run-types.ts";
import { runTabs, type RunTab } from "../../app/addresses.ts";

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

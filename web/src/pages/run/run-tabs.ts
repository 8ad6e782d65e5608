import { runTabs, type RunTab } from "../../app/addresses.ts";

/** The tabs of a run with what they are called, in the order of their keys. */
export const RUN_TABS = runTabs.map((id) => ({ id, label: `${id.charAt(0).toUpperCase()}${id.slice(1)}` }));

/** Returns the tab that an address names; the overview where it names none. */
export function runTabOf(name: string | undefined): RunTab {
  return RUN_TABS.find(({ id }) => id === name)?.id ?? "overview";
}

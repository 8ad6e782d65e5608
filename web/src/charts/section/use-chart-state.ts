import { useState } from "preact/hooks";
import { currentLocation, setQuery } from "../../app/location.tsx";
import { queryOf, STATE_USUAL, stateOf, type ChartState } from "../state/chart-state.ts";
import type { ChartContext } from "./types.ts";

/** The choices for charts: those of the address, or, beginning with `settings`, those of this place alone. */
export function useChartState(settings: Partial<ChartState> | undefined): Pick<ChartContext, "state" | "change"> {
  const [own, setOwn] = useState<ChartState>({ ...STATE_USUAL, ...settings });
  if (settings !== undefined)
    return { state: own, change: (changes) => setOwn((before) => ({ ...before, ...changes })) };
  return {
    state: stateOf(currentLocation.value.query),
    change: (changes, options) => setQuery(queryOf({ ...stateOf(currentLocation.peek().query), ...changes }), options),
  };
}

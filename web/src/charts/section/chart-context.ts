import { useState } from "preact/hooks";
import { currentLocation, setQuery } from "../../app/location.tsx";
import type { ChartLink } from "../view/chart-pointer.ts";
import type { Series } from "../series/series.ts";
import { queryOf, STATE_USUAL, stateOf, type ChartState } from "../state/chart-state.ts";

/** A run whose lines charts show. */
export type ChartRun = {
  readonly id: string;
  readonly name: string;
  readonly hidden?: boolean;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly running: boolean;
  /** Of a fork, the step up to which the points of its parent are its own beginning. */
  readonly forkStep?: number | undefined;
  /** Of a fork, its parent where the person may see it: with the parent's part, also metrics that the parent alone has are shown. */
  readonly parentId?: string | undefined;
};

/** The fields of a run, as lists and answers give them, that matter to charts. */
type RunOfList = {
  readonly id: string;
  readonly name: string;
  readonly started_at: string;
  readonly status: string;
  readonly forked_from_step?: number | null;
};

/** Returns a run of a list as charts take it. */
export function chartRun({ id, name, started_at: startedAt, status, forked_from_step: step }: RunOfList): ChartRun {
  return { id, name, startedAt, running: status === "running", forkStep: step ?? undefined };
}

/** The context that all cards of a section share. */
export type ChartContext = {
  readonly project: { readonly id: string; readonly name: string };
  /** Those that are shown. */
  readonly runs: readonly ChartRun[];
  readonly state: ChartState;
  readonly change: (changes: Partial<ChartState>, options?: { readonly replace?: boolean }) => void;
  readonly link: ChartLink;
  readonly highlight: string | undefined;
  readonly onHighlight: (id: string | undefined) => void;
  /** Counts the news of running runs; 0 where nothing is watched. */
  readonly news: number;
  /** The series of each metric where they are at hand, as in a shared report; then nothing is read, and all is drawn as it was given. */
  readonly given?: GivenSeries | undefined;
};

/** Series by metric. */
export type GivenSeries = ReadonlyMap<string, readonly Series[]>;

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

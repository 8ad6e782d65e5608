import { useMemo, useState } from "preact/hooks";
import { currentLocation, setQuery } from "../../app/location.tsx";
import type { Series } from "../series/series.ts";
import { createLink, type ChartLink } from "../view/chart-pointer.ts";
import type { ChartOptions } from "../state/chart-options.ts";
import type { ChartKeys } from "./lines.ts";
import { queryOf, STATE_USUAL, stateOf, withOptions, type ChartState } from "../state/chart-state.ts";

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
  /** Where the vertical axis begins and ends. */
  readonly rangeY?: readonly [number | undefined, number | undefined] | undefined;
  /** Counts the news of running runs; 0 where nothing is watched. */
  readonly news: number;
  /** The metrics that there are to choose from. */
  readonly metricKeys: readonly string[];
  /** The keys of configs by which runs can be grouped. */
  readonly configKeys: readonly string[];
  /** The series of each metric where they are at hand, as in a shared report; then nothing is read, and all is drawn as it was given. */
  readonly given?: GivenSeries | undefined;
};

/** Series by metric. */
export type GivenSeries = ReadonlyMap<string, readonly Series[]>;

/**
 * The choices for charts: those of the address, where `usualX` is the axis unless it says another one, or, beginning with `settings`, those of this place
 * alone. Patterns are those of the address everywhere, because a run looks the same on the whole page.
 */
export function useChartState(
  settings: Partial<ChartState> | undefined,
  usualX?: ChartState["x"],
): Pick<ChartContext, "state" | "change"> {
  const [own, setOwn] = useState<ChartState>({ ...STATE_USUAL, ...settings });
  if (settings !== undefined)
    return {
      state: { ...own, patterns: stateOf(currentLocation.value.query).patterns },
      change: ({ patterns, ...changes }) => {
        if (patterns !== undefined) setQuery({ patterns: patterns ? "1" : undefined }, { replace: true });
        setOwn((before) => ({ ...before, ...changes }));
      },
    };
  return {
    state: stateOf(currentLocation.value.query, usualX),
    change: (changes, options) =>
      setQuery(queryOf({ ...stateOf(currentLocation.peek().query, usualX), ...changes }, usualX), options),
  };
}

/** A chart that is shown. */
export type ShownChart = ChartOptions & {
  /** Short names of its metrics, for the chart of a single run. */
  readonly nameOf?: ((key: string) => string | undefined) | undefined;
  /** People cannot change or pin it. */
  readonly isFixed?: true;
};

/** Returns the metrics of a chart. */
export function keysOf({ key, also, nameOf, mark }: ShownChart): ChartKeys {
  return { keys: [key, ...also], nameOf, hasOnlyPoints: mark === "points" };
}

/** Returns the title of a chart: its own, else its metrics. */
export function titleOf({ key, also, title }: ChartOptions): string {
  return title ?? [key, ...also].join(", ");
}

/** Returns the context of a chart with options of its own. A zoom of another horizontal axis than that of the other charts is its own. */
export function useOwnContext(context: ChartContext, chart: ShownChart): ChartContext {
  const [zoom, setZoom] = useState<ChartState["zoom"]>(undefined);
  const ownLink = useMemo(createLink, []);
  const { x, yMin, yMax } = chart;
  const state = withOptions(context.state, chart);
  const own = { ...context, state, rangeY: [yMin, yMax] as const };
  if (x === undefined || x === context.state.x) return own;
  return {
    ...own,
    state: { ...state, zoom },
    link: ownLink,
    change: (changes, options) => {
      const { zoom: next, ...others } = changes;
      if ("zoom" in changes) setZoom(next);
      if (Object.keys(others).length > 0) context.change(others, options);
    },
  };
}

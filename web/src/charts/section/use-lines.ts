import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { lineInk, lineLook, useVisibleLines } from "../look/run-look.ts";
import type { Line } from "../scene/line-model.ts";
import { groupId, GROUP_RUNS_MAX, type GroupSeries, type GroupsQuery } from "../series/read-groups.ts";
import type { KeysQuery } from "../series/keys-source.ts";
import { SERIES_RUNS_MAX } from "../series/read-series.ts";
import { stepsWithin, type Series, type SeriesQuery } from "../series/series.ts";
import type { LegendLine } from "../view/legend.tsx";
import { pageInks } from "../view/canvas-stage.ts";
import { watchProject } from "../../api/changes.ts";
import type { ChartContext } from "./chart-context.ts";
import { groupLines, keyLookIds, legendOf, pointsOf, runLines, type ChartKeys } from "./lines.ts";
import type { Range } from "../scene/scale.ts";
import { useGroups, useSeries, type Loaded } from "./use-series.ts";

/** The lines of a chart, and how far reading them is. */
export type ChartLines = {
  readonly lines: readonly Line[] | undefined;
  /** Names what nothing else on the page does: groups, or the metrics of a chart of several. */
  readonly legend: readonly LegendLine[];
  readonly busy: boolean;
  readonly error: unknown;
  readonly retry: () => void;
};

/** Widths go up by this many pixels, so that a small change of the window asks for nothing new. */
const BUCKETS_STEP = 50;

/** Returns how many buckets a plot of this width needs. */
export function bucketsOf(width: number): number {
  return Math.min(4000, Math.max(100, Math.ceil(width / BUCKETS_STEP) * BUCKETS_STEP));
}

/** Reads what a chart shows, while `active`: the lines of runs, or of groups of them. */
export function useLines(context: ChartContext, chart: ChartKeys, buckets: number, active: boolean): ChartLines {
  const { runs, state } = context;
  const { keys, hasOnlyPoints = false } = chart;
  const isGrouped = state.group !== undefined;
  const isReading = active && runs.length > 0;
  const series = useRunSeries(context, keys, buckets, isReading && !isGrouped);
  const groups = useGroupSeries(context, keys, buckets, isReading && isGrouped);
  const loaded = isGrouped ? groups : series;
  const { theme } = pageInks.value;
  const ownIds = isGrouped ? (groups.result ?? []).map(({ name }) => groupId(name)) : keyLookIds(context, chart);
  useVisibleLines(context.project.id, ownIds);
  const ids = isGrouped ? ownIds : [...runs.map(({ id }) => id), ...ownIds];
  const looks = ids.map((id) => lineInk(id, theme) + lineLook(id).dash.join(" ")).join();
  const lines = useMemo(() => {
    const found = isGrouped
      ? groups.result && groupLines(groups.result, keys, state.band, theme)
      : series.result && runLines(series.result, context, chart, theme);
    return hasOnlyPoints ? found?.map(pointsOf) : found;
  }, [loaded.result, isGrouped, state.band, state.lineage, theme, looks, runs, keys.join("\n"), hasOnlyPoints]);
  const shown = isReading || !active ? lines : [];
  return {
    lines: shown,
    legend: legendOf(shown ?? [], context, chart),
    busy: loaded.busy,
    error: loaded.error,
    retry: loaded.retry,
  };
}

/** Reads the lines of runs; those of a zoomed range with its own buckets. Where they are given, nothing is read. */
function useRunSeries(
  { runs, state, news, given }: ChartContext,
  keys: readonly string[],
  buckets: number,
  isShown: boolean,
): Loaded<readonly Series[]> {
  const active = isShown && given === undefined;
  // The same list for the same keys, so that its lines are made once.
  const givenSeries = useMemo(() => keys.flatMap((key) => given?.get(key) ?? []), [given, keys.join("\n")]);
  const { x, smoothing, zoom } = state;
  const runIds = runs.slice(0, SERIES_RUNS_MAX).map(({ id }) => id);
  const runningIds = runs.filter(({ running }) => running).map(({ id }) => id);
  const lineage = state.lineage && runs.some(({ forkStep }) => forkStep !== undefined);
  const common = { keys, runIds, x, smoothing, buckets, ...(lineage ? { lineage } : {}) };
  const base: KeysQuery<SeriesQuery> | undefined =
    active && (zoom === undefined || x !== "step") ? { ...common, steps: undefined } : undefined;
  const whole = useSeries(base, active, news, runningIds);
  const steps = zoom === undefined ? undefined : stepsWithin(zoom, x, whole.result ?? []);
  const inside: KeysQuery<SeriesQuery> | undefined = active && steps !== undefined ? { ...common, steps } : undefined;
  const zoomed = useSeries(inside, active, news, runningIds);
  if (given !== undefined) return { ...whole, result: isShown ? givenSeries : undefined };
  return inside === undefined ? whole : { ...zoomed, result: zoomed.result ?? whole.result };
}

/** Reads the lines of groups; a zoomed range of steps with its own buckets, one of another axis with more buckets. */
function useGroupSeries(
  { runs, state, news }: ChartContext,
  keys: readonly string[],
  buckets: number,
  active: boolean,
): Loaded<readonly GroupSeries[]> {
  const { x, smoothing, zoom, group } = state;
  const runIds = active ? runs.slice(0, GROUP_RUNS_MAX).map(({ id }) => id) : [];
  const common = { keys, runIds, by: group!, x, smoothing, buckets, steps: undefined };
  const whole = useGroups(active && (zoom === undefined || x !== "step") ? common : undefined, active, news);
  const inside: KeysQuery<GroupsQuery> | undefined =
    !active || zoom === undefined
      ? undefined
      : x === "step"
        ? { ...common, steps: zoom }
        : whole.result && { ...common, buckets: bucketsWithin(zoom, whole.result, buckets) };
  const zoomed = useGroups(inside, active, news);
  return inside === undefined ? whole : { ...zoomed, result: zoomed.result ?? whole.result };
}

/** Most buckets of a request. */
const BUCKETS_MAX = 4096;

/** Returns how many buckets the whole axis needs, so that a zoomed range has `buckets` of them. It doubles, so that most zooms ask for nothing new. */
function bucketsWithin(zoom: Range, whole: readonly GroupSeries[], buckets: number): number {
  const low = Math.min(...whole.map(({ x }) => x[0] ?? Infinity));
  const high = Math.max(...whole.map(({ x }) => x.at(-1) ?? -Infinity));
  const share = (high - low) / (zoom[1] - zoom[0]);
  return share > 1 ? Math.min(BUCKETS_MAX, buckets * 2 ** Math.ceil(Math.log2(share))) : buckets;
}

/** Least time between two reads of new data. */
const NEWS_APART_MS = 1000;

/** Counts the news of some runs of a project: immediately, then at most once a second. 0 while nothing is watched. */
export function useNews(projectId: string, runIds: readonly string[], live: boolean): number {
  const [news, setNews] = useState(0);
  const watched = useRef<ReadonlySet<string>>(new Set());
  watched.current = new Set(runIds);
  useEffect(() => {
    if (!live) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const announce = (): void => {
      timer = undefined;
      last = performance.now();
      setNews((count) => count + 1);
    };
    const end = watchProject(projectId, ({ kind, run_id: runId }) => {
      const concerns = kind === "reset" || (kind === "points" && (runId === undefined || watched.current.has(runId)));
      if (!concerns || timer !== undefined) return;
      timer = setTimeout(announce, Math.max(0, last + NEWS_APART_MS - performance.now()));
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [projectId, live]);
  return live ? news : 0;
}

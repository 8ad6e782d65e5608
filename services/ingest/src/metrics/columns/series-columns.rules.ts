import { gridOf, type Grid, type Smoothing, type BucketColumns } from "@tidemark/codecs/metrics";
import type { KeyFacts, StoredSeries } from "../read/metric-rows.rules.ts";

/** The horizontal axis of a chart; `metric`: the value of another key at the same step. */
export type Axis = "step" | "time" | "relative" | { readonly metric: string };

/** Which series to show, and how. */
export type ColumnsQuery = {
  readonly keys: readonly string[];
  /** Inclusive bounds of steps; absent: none. */
  readonly startStep: number | undefined;
  readonly endStep: number | undefined;
  /** Only points after this step; not together with bounds. */
  readonly afterStep: number | undefined;
  /** The most points of a series without buckets. */
  readonly limit: number;
  /** The number of parts in which a longer series is summarized; undefined: its tail is cut off. */
  readonly buckets: number | undefined;
  /** Also the last point before the bounds and the first one after them. */
  readonly edges: boolean;
  /** The parts are the same for all series. */
  readonly sharedGrid: boolean;
  readonly axis: Axis;
  readonly smoothing: Smoothing | undefined;
  /** Short series are summarized too; with buckets on a shared grid. */
  readonly alwaysBuckets?: true;
};

/** A run to show. */
export type ChartedRun = {
  /** The sources of its points: the runs that it was forked from, the oldest first, then the run itself. */
  readonly chain: readonly Source[];
  /** When it started, in microseconds since the Unix epoch; only for the axis `relative`. */
  readonly startedUs: number;
};

/** A run whose points are read up to a step, that of a fork; Infinity for all. */
export type Source = { readonly runId: string; readonly cutStep: number };

/** The facts of the keys that a source has, by their place among the keys that are read. */
export type SourceFacts = ReadonlyMap<number, KeyFacts>;

/** Inclusive bounds of the steps to show. */
export type Bounds = { readonly from: number; readonly to: number };

/** Returns the bounds of a query. */
export function boundsOf({ startStep, endStep, afterStep }: ColumnsQuery): Bounds {
  return { from: startStep ?? (afterStep === undefined ? 0 : nextAbove(afterStep)), to: endStep ?? Infinity };
}

/** Returns the lowest double above a step. */
function nextAbove(step: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, step);
  view.setBigInt64(0, view.getBigInt64(0) + 1n);
  return view.getFloat64(0);
}

/** Whether all points of a series are needed, no matter which are shown. */
export function needsAllPoints({ smoothing, axis }: Pick<ColumnsQuery, "smoothing" | "axis">): boolean {
  return smoothing !== undefined || axis !== "step";
}

/** The keys that are read: the shown keys, then the key of the axis. */
export function keysToRead({ keys, axis }: ColumnsQuery): readonly string[] {
  return typeof axis === "object" ? [...keys, axis.metric] : keys;
}

/** The facts of a series before its points are read. */
type SeriesExtent = {
  /** The number of points, including those after the step of a fork. */
  readonly count: number;
  /** The lowest and the highest step; the lowest is above the highest where there is no point. */
  readonly firstStep: number;
  readonly lastStep: number;
};

/** Returns the extent of the key with this place over the sources of a run. */
export function extentOf(chain: readonly Source[], facts: readonly SourceFacts[], place: number): SeriesExtent {
  let [count, firstStep, lastStep] = [0, Infinity, -Infinity];
  chain.forEach(({ cutStep }, i) => {
    const known = facts[i]!.get(place);
    if (known === undefined || known.firstStep > cutStep) return;
    count += known.count;
    firstStep = Math.min(firstStep, known.firstStep);
    lastStep = Math.max(lastStep, Math.min(known.lastStep, cutStep));
  });
  return { count, firstStep, lastStep };
}

/** Returns the grids of series by steps, in their order; undefined for series without points between the bounds, and without buckets. */
export function stepGrids(query: ColumnsQuery, extents: readonly SeriesExtent[]): (Grid | undefined)[] {
  const { buckets, sharedGrid, startStep, afterStep, endStep, alwaysBuckets } = query;
  const bounds = boundsOf(query);
  const all = {
    firstStep: Math.min(...extents.map(({ firstStep }) => firstStep)),
    lastStep: Math.max(...extents.map(({ lastStep }) => lastStep)),
  };
  return extents.map((own) => {
    if (buckets === undefined || own.lastStep < bounds.from || own.firstStep > bounds.to) return undefined;
    const { firstStep, lastStep } = sharedGrid ? all : own;
    const cut = alwaysBuckets === true ? gridOfSteps : gridOf;
    return cut(startStep ?? afterStep ?? firstStep, endStep ?? lastStep, buckets);
  });
}

/** Returns the grid of a range of fewer whole numbers than parts: each begins a part followed by as many parts as fit before the next. */
export function gridOfSteps(low: number, high: number, buckets: number): Grid {
  const steps = high - low + 1;
  if (!Number.isInteger(low) || !Number.isInteger(high) || steps >= buckets) return gridOf(low, high, buckets);
  return { low, span: steps, buckets: buckets - (buckets % steps) };
}

/** Points as columns of one length. */
export type PointsOfChart = {
  readonly step: Float64Array;
  readonly value: Float64Array;
  /** The client's time, or else when the server received the point: milliseconds since the Unix epoch. */
  readonly time: Float64Array;
};

/** Columns that both forms may have; unwanted ones are empty. */
type AddedColumns = {
  /** With smoothing; for a bucket, the mean; NaN without a finite value. */
  readonly smoothed: Float64Array;
  /** With an axis other than steps; for a bucket, its start. The rows are in this order. */
  readonly x: Float64Array;
};

/** A series in an answer. */
export type SeriesColumns =
  | ({ readonly sampled: false; readonly truncated: boolean } & PointsOfChart & AddedColumns)
  | ({ readonly sampled: true } & BucketColumns & AddedColumns);

const NONE = new Float64Array(0);

/** The empty columns of a series that is neither smoothed nor drawn by an axis other than steps. */
export const nothingAdded: AddedColumns = { smoothed: NONE, x: NONE };

/** The columns of a series without points. */
export const noColumns: SeriesColumns = {
  sampled: false,
  truncated: false,
  step: NONE,
  value: NONE,
  time: NONE,
  ...nothingAdded,
};

/** Returns a time in microseconds as milliseconds, which charts are drawn by. */
export function millisecondsOf(micros: number): number {
  return Math.floor(micros / 1000);
}

/** Returns the client's time of a point, or else the time when the server received it, in microseconds. */
export function timeUsOf({ receivedUs, timestampsUs }: StoredSeries, i: number): number {
  const sent = timestampsUs[i];
  if (sent !== undefined && !Number.isNaN(sent)) return sent;
  return typeof receivedUs === "number" ? receivedUs : receivedUs[i]!;
}

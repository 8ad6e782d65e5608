import { createBucketSampler, bucketIndex, readSummedChunk, type Grid } from "@tidemark/codecs/metrics";
import { withEdgeBuckets, type EdgeRows } from "./edge-buckets.rules.ts";
import { createFirstPoints, type Points } from "../read/first-points.rules.ts";
import type { StoredSeries, SeriesTaker } from "../read/metric-rows.rules.ts";
import { eachStretch } from "../read/sample-series.rules.ts";
import {
  type Bounds,
  millisecondsOf,
  nothingAdded,
  type PointsOfChart,
  type SeriesColumns,
  timeUsOf,
} from "./series-columns.rules.ts";

/** Builds the columns of one series from its stored points. */
export type SeriesMaker = {
  /** Takes points of a source of the run, which arrived after all those that were taken before. */
  readonly add: (series: StoredSeries, cutStep: number) => void;
  /** Takes all points of a chunk by its statistics and its sum. @throws Error when the points themselves are needed */
  readonly addStatistics: (bytes: Uint8Array) => void;
  /** Returns the columns. Nothing can be added afterwards. */
  finish(): SeriesColumns;
};

/** How to show a series of which only the shown points are read. */
type BoundedSeries = {
  readonly bounds: Bounds;
  /** The most points that are shown unsummarized. */
  readonly pointsMax: number;
  /** The number of parts of a longer series; undefined: its tail is cut off. */
  readonly grid: Grid | undefined;
  /** Where the series is known to be summarized, its points have no times. */
  readonly isSampled: boolean;
  readonly edges: boolean;
};

/** Creates a maker. Its memory is bounded by the number of points or parts that it shows. */
export function makeBoundedSeries({ bounds, pointsMax, grid, isSampled, edges }: BoundedSeries): SeriesMaker {
  const { from, to } = bounds;
  const first = isSampled ? undefined : createFirstPoints(pointsMax + 1, { startStep: from, endStep: to });
  const sampler = grid === undefined ? undefined : createBucketSampler(grid);
  const edge = edges ? createEdgePoints(bounds) : undefined;
  const placeIn = (step: number): number => (step < from ? -1 : step > to ? Infinity : bucketIndex(grid!, step));

  const add = (series: StoredSeries): void => {
    edge?.add(series);
    const { steps, values } = series;
    // Once there are more points than are shown, they are certain to be summarized.
    if (first !== undefined && (sampler === undefined || sampler.count() <= pointsMax)) first.add(series);
    if (sampler === undefined) return;
    eachStretch(placeIn, steps, (begin, end) => {
      if (steps[begin]! >= from && steps[begin]! <= to) sampler.addStretch(steps, values, begin, end);
    });
  };

  return {
    add: (series, cutStep) => add(cutStep === Infinity ? series : cut(series, cutStep)),
    addStatistics(bytes) {
      // The statement and the sampler agree on the parts, because they calculate them in the same way.
      if (sampler === undefined || !sampler.addChunk(readSummedChunk(bytes)))
        throw new Error("a chunk came without its points");
    },
    finish() {
      const count = sampler?.count() ?? first!.count();
      if (sampler !== undefined && (isSampled || count > pointsMax)) {
        const buckets = withEdgeBuckets(sampler.take(), rowsOf(edge?.before()), rowsOf(edge?.after()));
        return { sampled: true, ...nothingAdded, ...buckets };
      }
      const truncated = count > pointsMax;
      const points = chartPoints(first!.take(pointsMax));
      const shown =
        edge === undefined ? points : withEdges(points, edge.before(), truncated ? undefined : edge.after());
      return { sampled: false, truncated, ...nothingAdded, ...shown };
    },
  };
}

/** Returns the points up to a step. */
function cut(series: StoredSeries, cutStep: number): StoredSeries {
  const { steps, values, receivedUs, timestampsUs } = series;
  const kept = [...steps.keys()].filter((i) => steps[i]! <= cutStep);
  if (kept.length === steps.length) return series;
  const pick = (column: Float64Array): Float64Array =>
    column.length === 0 ? column : Float64Array.from(kept, (i) => column[i]!);
  return {
    steps: pick(steps),
    values: pick(values),
    receivedUs: typeof receivedUs === "number" ? receivedUs : pick(receivedUs),
    timestampsUs: pick(timestampsUs),
  };
}

function chartPoints({ steps, values, createdUs, timestampsUs }: Points): PointsOfChart {
  const time = createdUs.map((received, i) => {
    const sent = timestampsUs[i] ?? Number.NaN;
    return millisecondsOf(Number.isNaN(sent) ? received : sent);
  });
  return { step: steps, value: values, time };
}

function withEdges(points: PointsOfChart, before: EdgePoint | undefined, after: EdgePoint | undefined): PointsOfChart {
  const around = (column: Float64Array, of: (point: EdgePoint) => number): Float64Array =>
    between(column, before, after, of);
  return {
    step: around(points.step, ({ step }) => step),
    value: around(points.value, ({ value }) => value),
    time: around(points.time, ({ timeUs }) => millisecondsOf(timeUs)),
  };
}

function rowsOf(point: EdgePoint | undefined): EdgeRows {
  if (point === undefined) return { step: new Float64Array(0), value: new Float64Array(0) };
  return { step: Float64Array.of(point.step), value: Float64Array.of(point.value) };
}

function between(
  column: Float64Array,
  before: EdgePoint | undefined,
  after: EdgePoint | undefined,
  of: (point: EdgePoint) => number,
): Float64Array {
  if (before === undefined && after === undefined) return column;
  return Float64Array.of(
    ...(before === undefined ? [] : [of(before)]),
    ...column,
    ...(after === undefined ? [] : [of(after)]),
  );
}

/** A point with the time that answers show, in microseconds. */
type EdgePoint = { readonly step: number; readonly value: number; readonly timeUs: number };

/** Finds the points to which the lines of a chart continue beyond its bounds. */
type EdgePoints = {
  readonly add: SeriesTaker;
  /** The latest arrival at the highest step below the bounds. */
  before(): EdgePoint | undefined;
  /** The earliest arrival at the lowest step above the bounds. */
  after(): EdgePoint | undefined;
};

/** Creates a finder, which takes points in the order of their arrival. */
function createEdgePoints({ from, to }: Bounds): EdgePoints {
  let before: EdgePoint | undefined;
  let after: EdgePoint | undefined;
  return {
    add(series) {
      const { steps, values } = series;
      for (let i = 0; i < steps.length; i++) {
        const step = steps[i]!;
        if (step < from && !(step < (before?.step ?? 0)))
          before = { step, value: values[i]!, timeUs: timeUsOf(series, i) };
        else if (step > to && step < (after?.step ?? Infinity))
          after = { step, value: values[i]!, timeUs: timeUsOf(series, i) };
      }
    },
    before: () => before,
    after: () => after,
  };
}

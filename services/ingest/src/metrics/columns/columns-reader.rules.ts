import { gridOf, type Grid } from "@tidemark/codecs/metrics";
import { createBlockOpener, type SeriesTaker, createWantedKeys, type WantedKeys } from "../read/metric-rows.rules.ts";
import { makeBoundedSeries, type SeriesMaker } from "./bounded-series.rules.ts";
import {
  collectPoints,
  beginningOf,
  secondsSince,
  timesOf,
  valuesOf,
  type CollectedPoints,
  type SortedPoints,
} from "./collect-points.rules.ts";
import { boundsOf, gridOfSteps, needsAllPoints, noColumns, type SeriesColumns } from "./series-columns.rules.ts";
import { partsOf, ROW_KINDS, type ColumnsPage } from "./columns-page.rules.ts";
import { axisRange, columnsOfBuckets, columnsOfPoints, drawPoints, type Drawn } from "./draw-points.rules.ts";
import { MODES, type Entry, type PlannedSeries, type ReadPlan } from "./read-plan.rules.ts";

/** Builds series from pages of stored points. */
export type ColumnsReader = {
  /** Takes the next page. @throws CodecError for a damaged row */
  readonly add: (page: ColumnsPage) => void;
  /** Nothing can be added afterwards. */
  finish(): BuiltSeries;
};

/** Series that were built. */
export type BuiltSeries = {
  /** By run, then by key. */
  readonly series: readonly (readonly SeriesColumns[])[];
  /** The parts of another axis than steps that all series share. */
  readonly grid: Grid | undefined;
};

/** The series of the keys of one run. */
type RunMaker = {
  readonly takers: readonly ((series: Parameters<SeriesTaker>[0], cutStep: number) => void)[];
  readonly addStatistics: (place: number, bytes: Uint8Array) => void;
  /** Returns a function that builds the columns when all runs are read. */
  readonly finish: () => readonly Unfinished[];
};

/** A series without the grid of its axis, which may be shared by all series. */
type Unfinished = { readonly drawn: Drawn | undefined; readonly columns: (low: number, high: number) => SeriesColumns };

/** Creates a reader. Its memory is bounded by the shown part of each series and one page; where all points are needed, by those of one run. */
export function createColumnsReader(plan: ReadPlan): ColumnsReader {
  const { query, sources, entries, series } = plan;
  const needsAll = needsAllPoints(query);
  const finished: (readonly Unfinished[])[] = [];
  const openBlock = createBlockOpener();
  const entriesOf = Map.groupBy(entries, ({ source }) => source);
  let readChunk: ReturnType<typeof openBlock> | undefined;
  let current: { readonly run: number; readonly maker: RunMaker } | undefined;
  let wanted: { readonly source: number; readonly keys: WantedKeys } | undefined;

  const openRun = (run: number): RunMaker => {
    while (current === undefined || current.run < run) {
      if (current !== undefined) finished.push(current.maker.finish());
      const next = current === undefined ? 0 : current.run + 1;
      const maker = needsAll ? makeUnboundedRun(plan, next) : makeBoundedRun(plan, series[next]!);
      current = { run: next, maker };
    }
    return current.maker;
  };

  const wantedKeys = (source: number, maker: RunMaker): WantedKeys => {
    if (wanted?.source === source) return wanted.keys;
    const found = createWantedKeys();
    for (const [keyId, own] of Map.groupBy(entriesOf.get(source) ?? [], ({ facts }) => facts.keyId)) {
      const { cutStep } = sources[source]!;
      const take: SeriesTaker = (points) => own.forEach(({ place }) => maker.takers[place]!(points, cutStep));
      found.add({ keyId, take });
    }
    wanted = { source, keys: found };
    return found;
  };

  return {
    add(page) {
      for (const row of page.rows) {
        const { run, cutStep } = sources[row.source]!;
        const maker = openRun(run);
        const { steps, times, section } = partsOf(page, row);
        if (row.kind === ROW_KINDS.segment) {
          wantedKeys(row.source, maker).takeSegment({ receivedUs: row.receivedUs, bytes: section });
          continue;
        }
        const { place }: Entry = entries[row.entry]!;
        if (row.kind === ROW_KINDS.statistics) maker.addStatistics(place, section);
        else {
          if (steps !== null) readChunk = openBlock({ steps, times });
          maker.takers[place]!(readChunk!(section), cutStep);
        }
      }
    },
    finish() {
      openRun(series.length - 1);
      finished.push(current!.maker.finish());
      const shared = query.sharedGrid ? rangeOf(finished.flat()) : undefined;
      const built = finished.map((own) =>
        own.map((one) => {
          const range = shared ?? rangeOf([one]);
          return one.columns(range?.low ?? 0, range?.high ?? 0);
        }),
      );
      const isCut = shared !== undefined && query.buckets !== undefined;
      return { series: built, grid: isCut ? axisGrid(query, shared.low, shared.high) : undefined };
    },
  };
}

/** Returns the range of the axis over all of these series with points on it. */
function rangeOf(all: readonly Unfinished[]): { readonly low: number; readonly high: number } | undefined {
  const ranges = all.flatMap(({ drawn }) => (drawn === undefined ? [] : (axisRange(drawn) ?? [])));
  if (ranges.length === 0) return undefined;
  return { low: Math.min(...ranges.map(({ low }) => low)), high: Math.max(...ranges.map(({ high }) => high)) };
}

function makeBoundedRun({ query }: ReadPlan, series: readonly PlannedSeries[]): RunMaker {
  const makers = series.map(({ grid, isSampled }): SeriesMaker =>
    makeBoundedSeries({
      bounds: boundsOf(query),
      pointsMax: query.buckets ?? query.limit,
      grid,
      isSampled: isSampled && grid !== undefined,
      edges: query.edges,
    }),
  );
  return {
    takers: makers.map(({ add }) => add),
    addStatistics: (place, bytes) => makers[place]!.addStatistics(bytes),
    finish: () =>
      makers.map((maker) => {
        const columns = maker.finish();
        return { drawn: undefined, columns: () => columns };
      }),
  };
}

function makeUnboundedRun(plan: ReadPlan, run: number): RunMaker {
  const { query, series, startedUs } = plan;
  const timed = new Set(
    plan.entries
      .filter(({ mode, source }) => mode === MODES.timed && plan.sources[source]!.run === run)
      .map(({ place }) => place),
  );
  const collected: CollectedPoints[] = series[run]!.map(({ count }, place) => collectPoints(count, timed.has(place)));
  return {
    takers: collected.map(({ add }) => add),
    addStatistics: () => {
      throw new Error("a series that needs all its points came without some");
    },
    finish: () => {
      const points = collected.map((one) => one.sorted());
      const axisOf = axisOfRun(query.axis, startedUs[run]!, points);
      return query.keys.map((_, place) => drawSeries(plan, series[run]![place]!, points[place]!, axisOf));
    },
  };
}

function drawSeries(
  { query }: ReadPlan,
  { grid }: PlannedSeries,
  points: SortedPoints,
  axisOf: ((points: SortedPoints) => Float64Array) | undefined,
): Unfinished {
  if (points.steps.length === 0) return { drawn: undefined, columns: () => noColumns };
  const { edges, smoothing, buckets, alwaysBuckets } = query;
  const drawn = drawPoints(points, { bounds: boundsOf(query), edges, smoothing, axisOf });
  const most = alwaysBuckets === true ? 0 : buckets;
  if (buckets === undefined || drawn.inside.step.length <= most!) {
    const columns = columnsOfPoints(drawn, buckets ?? query.limit);
    return { drawn, columns: () => columns };
  }
  if (axisOf === undefined) {
    const columns = columnsOfBuckets(drawn, grid!);
    return { drawn: undefined, columns: () => columns };
  }
  return { drawn, columns: (low, high) => columnsOfBuckets(drawn, axisGrid(query, low, high)) };
}

/** Returns the parts of a range of an axis; only for a query with buckets. */
function axisGrid({ buckets, alwaysBuckets }: ReadPlan["query"], low: number, high: number): Grid {
  return (alwaysBuckets === true ? gridOfSteps : gridOf)(low, high, buckets!);
}

function axisOfRun(
  axis: ReadPlan["query"]["axis"],
  startedUs: number,
  points: readonly SortedPoints[],
): ((points: SortedPoints) => Float64Array) | undefined {
  if (axis === "step") return undefined;
  if (axis === "time") return timesOf;
  return axis === "relative" ? secondsSince(beginningOf(startedUs, points)) : valuesOf(points.at(-1)!);
}

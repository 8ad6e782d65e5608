import type { Grid } from "@tidemark/codecs/metrics";
import type { KeyFacts } from "../read/metric-rows.rules.ts";
import {
  boundsOf,
  extentOf,
  needsAllPoints,
  keysToRead,
  stepGrids,
  type ChartedRun,
  type ColumnsQuery,
  type SourceFacts,
} from "./series-columns.rules.ts";

/** Which points of a source to read for one series. */
export type Entry = {
  /** Place of the source in the plan. */
  readonly source: number;
  /** Place of the key among those that are read. */
  readonly place: number;
  readonly facts: KeyFacts;
  readonly mode: EntryMode;
  readonly grid: Grid | undefined;
};

/** The modes of `metric_columns_page`. */
export type EntryMode = (typeof MODES)[keyof typeof MODES];
export const MODES = { untimed: 0, timed: 1, statistics: 2, statisticsIfSure: 3 } as const;

/** How to show a key of a run. */
export type PlannedSeries = {
  /** Points to read at most. */
  readonly count: number;
  /** For a series by steps with buckets that has points between the bounds. */
  readonly grid: Grid | undefined;
  /** Whether it is known to have more points than are shown unsummarized. */
  readonly isSampled: boolean;
};

/** A read of series, in a form that can be passed between threads. */
export type ReadPlan = {
  readonly query: ColumnsQuery;
  readonly sources: readonly { readonly runId: string; readonly cutStep: number; readonly run: number }[];
  readonly startedUs: readonly number[];
  /** By run, then by place among the keys that are read. */
  readonly series: readonly (readonly PlannedSeries[])[];
  /** By source, then by key id. */
  readonly entries: readonly Entry[];
  /** Steps outside these are read only for edges. */
  readonly from: number;
  readonly to: number;
  readonly withEdges: boolean;
  /** Points of each series that are read at least; undefined: all. */
  readonly pointsMax: number | undefined;
};

/** Plans the read of some runs. `facts` has the facts of each source of each run, in this order. */
export function planRead(
  query: ColumnsQuery,
  runs: readonly ChartedRun[],
  facts: readonly (readonly SourceFacts[])[],
): ReadPlan {
  const keys = keysToRead(query);
  const bounds = boundsOf(query);
  const needsAll = needsAllPoints(query);
  // Only the points themselves have the axis, so with edges all of them are read; smoothing needs all of them anyway.
  const readsAll = query.smoothing !== undefined || (needsAll && query.edges);
  const { from, to } = readsAll ? { from: 0, to: Infinity } : bounds;
  const { buckets } = query;
  const extents = runs.map(({ chain }, run) => keys.map((_, place) => extentOf(chain, facts[run]!, place)));
  const shownExtents = extents.flatMap((own) => own.slice(0, query.keys.length));
  const grids = stepGrids(query, shownExtents);

  const series = runs.map(({ chain }, run) =>
    keys.map((_, place): PlannedSeries => {
      let sure = 0;
      chain.forEach(({ cutStep }, at) => {
        const known = facts[run]![at]!.get(place);
        if (known !== undefined && known.firstStep >= bounds.from && known.lastStep <= Math.min(bounds.to, cutStep))
          sure += known.count;
      });
      return {
        count: extents[run]![place]!.count,
        grid: place < query.keys.length ? grids[run * query.keys.length + place] : undefined,
        isSampled: buckets !== undefined && (query.alwaysBuckets === true || sure > buckets),
      };
    }),
  );

  const entries: Entry[] = [];
  const sources: { runId: string; cutStep: number; run: number }[] = [];
  runs.forEach(({ chain }, run) => {
    chain.forEach(({ runId, cutStep }, at) => {
      const source = sources.push({ runId, cutStep, run }) - 1;
      const isWanted = ({ firstStep, lastStep }: KeyFacts): boolean =>
        query.edges || (firstStep <= Math.min(to, cutStep) && lastStep >= from);
      const wanted = [...facts[run]![at]!].filter(([, known]) => isWanted(known));
      for (const [place, known] of wanted.toSorted(([, a], [, b]) => a.keyId - b.keyId)) {
        const own = series[run]![place]!;
        entries.push({ source, place, facts: known, mode: modeOf(query, own, place), grid: own.grid });
      }
    });
  });
  return {
    query,
    sources,
    startedUs: runs.map(({ startedUs }) => startedUs),
    series,
    entries,
    from,
    to,
    withEdges: query.edges && !readsAll,
    pointsMax: buckets === undefined && !needsAll ? query.limit + 1 : undefined,
  };
}

function modeOf(query: ColumnsQuery, { count, isSampled, grid }: PlannedSeries, place: number): EntryMode {
  const { buckets, axis, keys } = query;
  if (needsAllPoints(query)) {
    if (place >= keys.length) return MODES.untimed;
    return axis !== "step" || !isSampled ? MODES.timed : MODES.untimed;
  }
  if (buckets === undefined || grid === undefined) return MODES.timed;
  if (isSampled) return MODES.statistics;
  return count <= buckets ? MODES.timed : MODES.statisticsIfSure;
}

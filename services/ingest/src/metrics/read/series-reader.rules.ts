import { bucketOf, createM4Sampler, readChunkStatistics, type ChunkStatistics } from "@tidemark/codecs/metrics";
import { createFirstPoints, type Points } from "./first-points.rules.ts";
import {
  createBlockOpener,
  type KeyFacts,
  type SeriesRow,
  type SeriesTaker,
  type StepRange,
} from "./metric-rows.rules.ts";
import { sampleSeries } from "./sample-series.rules.ts";
import { createWantedKeys, type WantedKeys } from "./segment-keys.rules.ts";
import { pointsToRead } from "./series-budget.rules.ts";

/** Which series of some keys to build. */
export type SeriesPlan = {
  readonly keys: readonly string[];
  readonly range: StepRange;
  /** The most points of a series that is not sampled. */
  readonly limit: number;
  /** The number of parts that a series of more points than the limit is sampled in; undefined: its tail is cut off. */
  readonly buckets: number | undefined;
};

/** The series of one key in one run, for an answer. */
export type KeySeries = ReturnType<SeriesCollector["take"]>;

/** The series of one run in the order of the keys, with the version of the run. */
export type RunSeries = { readonly version: number; readonly series: readonly KeySeries[] };

/** Builds series from the rows of a read. */
export type SeriesReader = {
  /** Takes the next row and keeps no reference to it. @throws CodecError for a damaged row */
  readonly add: (row: SeriesRow) => void;
  /** Returns the series of all runs, in the order of the runs. */
  take(): RunSeries[];
};

/** Creates a reader. Its memory is bounded by the limit, or the buckets, of each series, and one row. */
export function createSeriesReader(plan: SeriesPlan): SeriesReader {
  const runs: { version: number; collectors: readonly SeriesCollector[]; wanted: WantedKeys }[] = [];
  const openBlock = createBlockOpener();
  let readChunk: ReturnType<typeof openBlock> | undefined;

  const collectorFor = (facts: KeyFacts | undefined): SeriesCollector => {
    if (facts === undefined || plan.buckets === undefined || facts.count <= plan.limit) {
      return collectFirst(plan.limit, plan.range);
    }
    return collectSample(facts, plan.buckets);
  };

  const beginRun = ({ version, keys }: Extract<SeriesRow, { kind: "run" }>): void => {
    const wanted = createWantedKeys();
    const collectors = plan.keys.map((_, place) => {
      const facts = keys.get(place);
      const collector = collectorFor(facts);
      if (facts !== undefined) wanted.add({ keyId: facts.keyId, take: collector.add });
      return collector;
    });
    runs.push({ version, collectors, wanted });
  };

  return {
    add(row) {
      if (row.kind === "run") {
        // Each page begins with the run in which the previous page ended.
        if (runs.length < row.run) beginRun(row);
        return;
      }
      const { collectors, wanted } = runs[row.run - 1]!;
      if (row.kind === "statistics") {
        // The statement and the sampler agree on buckets, because they calculate them in the same way.
        if (!collectors[row.place]!.addStatistics(readChunkStatistics(row.statistics))) {
          throw new Error("a chunk came without its points");
        }
      } else if (row.kind === "chunk") {
        if (row.axis !== null) readChunk = openBlock(row.axis);
        collectors[row.place]!.add(readChunk!(row.section));
      } else wanted.takeSegment(row.segment);
    },
    take: () => runs.map(({ version, collectors }) => ({ version, series: collectors.map((one) => one.take()) })),
  };
}

/** Collects the series of one key in one run for an answer. */
type SeriesCollector = {
  readonly add: SeriesTaker;
  /**
   * Takes all points of a chunk, which arrived after all points taken before, by the statistics of the chunk. Takes nothing and returns
   * false when the points themselves are needed.
   */
  readonly addStatistics: (statistics: ChunkStatistics) => boolean;
  /** Returns the series for the answer. */
  take(): { readonly points: Points; readonly truncated: boolean; readonly sampled: boolean };
};

/** Keeps the first `limit` points within the range by step and arrival. */
function collectFirst(limit: number, range: StepRange): SeriesCollector {
  const first = createFirstPoints(pointsToRead(limit), range);
  return {
    add: first.add,
    addStatistics: ({ count }) => count === 0,
    take: () => ({ points: first.take(limit), truncated: first.count() > limit, sampled: false }),
  };
}

/**
 * Samples a series whose step range is known. A sampled point stands for other points too, so it has no times: its time of arrival is the epoch,
 * and it has no client's time.
 */
function collectSample(
  range: { readonly firstStep: number; readonly lastStep: number },
  buckets: number,
): SeriesCollector {
  const { firstStep, lastStep } = range;
  const sampler = createM4Sampler(firstStep, lastStep, buckets);
  const bucketIn = (step: number): number => bucketOf(step, firstStep, lastStep, buckets);
  return {
    add: ({ steps, values }) => sampleSeries(sampler, bucketIn, steps, values),
    addStatistics: sampler.addChunk,
    take: () => {
      const { steps, values } = sampler.sample();
      const points = { steps, values, createdUs: new Float64Array(steps.length), timestampsUs: new Float64Array(0) };
      return { points, truncated: false, sampled: true };
    },
  };
}

import { bucketOf, createM4Sampler, type ChunkStatistics } from "@tidemark/metric-codec";
import { createFirstPoints, type Points } from "./first-points.ts";
import { sampleSeries } from "./sample-series.ts";
import type { SeriesTaker, StepRange } from "./stored-series.ts";

/** Collects the series of one run for an answer. */
export type SeriesCollector = {
  readonly add: SeriesTaker;
  /** Takes all points of a chunk by its head, which arrived after all those taken before; false, and nothing taken, where the points are needed. */
  readonly addHead: (head: ChunkStatistics) => boolean;
  /** What the answer shows of the series. */
  take(): { readonly points: Points; readonly truncated: boolean; readonly sampled: boolean };
};

/** Keeps the first `limit` points within the range by step and arrival. */
export function collectFirst(limit: number, range: StepRange): SeriesCollector {
  const first = createFirstPoints(limit + 1, range);
  return {
    add: first.add,
    addHead: ({ count }) => count === 0,
    take: () => ({ points: first.take(limit), truncated: first.count() > limit, sampled: false }),
  };
}

/**
 * Samples a series whose step range is known. Sampled points stand for others too, so they carry no
 * time of their own: the epoch, and none of the client's.
 */
export function collectSample(
  range: { readonly firstStep: number; readonly lastStep: number },
  buckets: number,
): SeriesCollector {
  const { firstStep, lastStep } = range;
  const sampler = createM4Sampler(firstStep, lastStep, buckets);
  const bucketIn = (step: number): number => bucketOf(step, firstStep, lastStep, buckets);
  return {
    add: ({ steps, values }) => sampleSeries(sampler, bucketIn, steps, values),
    addHead: sampler.addChunk,
    take: () => {
      const { steps, values } = sampler.sample();
      const points = { steps, values, createdUs: new Float64Array(steps.length), timestampsUs: new Float64Array(0) };
      return { points, truncated: false, sampled: true };
    },
  };
}

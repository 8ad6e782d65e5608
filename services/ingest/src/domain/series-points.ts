import { createM4Sampler } from "@tidemark/metric-codec";
import { createFirstPoints, type Points } from "./first-points.ts";

/** Collects the series of one run for an answer. */
export type SeriesCollector = {
  /** Takes a point, which arrived after all those taken before. */
  readonly add: (step: number, value: number, createdUs: number, timestampUs: number) => void;
  /** What the answer shows of the series. */
  take(): { readonly points: Points; readonly truncated: boolean; readonly sampled: boolean };
};

/** Keeps the first `limit` points by step and arrival. */
export function collectFirst(limit: number): SeriesCollector {
  const first = createFirstPoints(limit + 1);
  return {
    add: first.add,
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
  const sampler = createM4Sampler(range.firstStep, range.lastStep, buckets);
  return {
    add: sampler.add,
    take: () => {
      const { steps, values } = sampler.sample();
      const points = { steps, values, createdUs: new Float64Array(steps.length), timestampsUs: new Float64Array(0) };
      return { points, truncated: false, sampled: true };
    },
  };
}

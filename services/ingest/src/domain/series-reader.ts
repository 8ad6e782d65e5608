import { decodeSegmentKey, readChunkStatistics } from "@tidemark/metric-codec";
import { decodeChunk } from "./decode-chunk.ts";
import type { KeyFacts, SeriesSegment } from "./metric-segments.ts";
import { collectFirst, collectSample, type SeriesCollector } from "./series-points.ts";
import type { StepRange } from "./stored-series.ts";

/** Which series to make, of one key. */
export type SeriesPlan = {
  readonly key: string;
  readonly range: StepRange;
  /** Most points of a series that is not sampled. */
  readonly limit: number;
  /** A series of more points than the limit is sampled in so many parts; undefined: it loses its tail. */
  readonly buckets: number | undefined;
};

/** What is read of a run. */
export type RunSeries = { readonly version: number } & ReturnType<SeriesCollector["take"]>;

/** Makes series of what is stored of them. */
export type SeriesReader = {
  /** Takes the next segment, of which nothing is kept. @throws CodecError when it is damaged */
  readonly add: (segment: SeriesSegment) => void;
  /** The series of all runs, in their order. */
  take(): RunSeries[];
};

/** Memory is bounded by the limit, or the buckets, of each run, and a segment. */
export function createSeriesReader(plan: SeriesPlan): SeriesReader {
  const runs: { version: number; facts: KeyFacts | null; collector: SeriesCollector }[] = [];

  const collectorFor = (facts: KeyFacts | null): SeriesCollector => {
    if (facts === null || plan.buckets === undefined || facts.count <= plan.limit) {
      return collectFirst(plan.limit, plan.range);
    }
    return collectSample(facts, plan.buckets);
  };

  return {
    add(segment) {
      if (segment.kind === "run") {
        // Each page begins with the run that the page before ended in.
        if (runs.length < segment.place) {
          runs.push({ version: segment.version, facts: segment.key, collector: collectorFor(segment.key) });
        }
        return;
      }
      const { collector, facts } = runs[segment.place - 1]!;
      if (segment.kind === "head") {
        // The statement and the sampler agree about buckets, as they calculate alike.
        if (!collector.addHead(readChunkStatistics(segment.head))) throw new Error("a chunk came without its points");
      } else if (segment.kind === "chunk") collector.add(decodeChunk(segment.chunk));
      else {
        const { block, receivedUs } = segment.landed;
        const series = decodeSegmentKey(block, { key: plan.key, keyId: facts!.keyId });
        if (series !== null) collector.add({ ...series, receivedUs });
      }
    },
    take: () => runs.map(({ version, collector }) => ({ version, ...collector.take() })),
  };
}

import { bucketOf, createM4Sampler, readChunkStatistics, type ChunkStatistics } from "@tidemark/codecs/metrics";
import { createFirstPoints, type Points, type FirstPoints } from "./first-points.rules.ts";
import {
  createBlockOpener,
  type KeyFacts,
  type SeriesRow,
  type SeriesTaker,
  type StepRange,
  createWantedKeys,
  type WantedKeys,
  type BlockPart,
  type PointRow,
} from "./metric-rows.rules.ts";
import { sampleSeries } from "./sample-series.rules.ts";
import { pointsToRead } from "./series-answer.rules.ts";

/** Which series of some keys to build. */
type SeriesPlan = {
  readonly keys: readonly string[];
  readonly range: StepRange;
  /** The most points of a series that is not sampled. */
  readonly limit: number;
  /** The number of parts that a series of more points than the limit is sampled in; undefined: its tail is cut off. */
  readonly buckets: number | undefined;
};

/** The series of one key in one run, for an answer. */
type KeySeries = ReturnType<SeriesCollector["take"]>;

/** The series of one run in the order of the keys, with the version of the run. */
export type RunSeries = { readonly version: number; readonly series: readonly KeySeries[] };

/** Builds series from the rows of a read. */
type SeriesReader = {
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

/** Points of one key. */
type KeyPoints = { readonly key: string; readonly points: Points };

/** Builds the first points of a run, over all its keys, from the rows of a read. */
export type PointsReader = {
  /** Takes the next row and keeps no reference to it; keys arrive in the order of their bytes. @throws CodecError for a damaged row */
  readonly add: (row: PointRow) => void;
  /** Call it when the keys so far are read completely: rows that are added later count only for later keys. */
  nextKeys(): void;
  /** Returns how many points there are of the keys so far, at most one more than the limit for each. */
  count(): number;
  /** Returns the first points by key, step and arrival, whether there are more, and the version of the run. Keys without points are left out. */
  take(): { readonly keys: readonly KeyPoints[]; readonly truncated: boolean; readonly version: number };
};

/** Bytes that name a key of a block and the length of its section. */
const ENTRY_BYTES = 8;

/** Reads up to `limit` points within the range. Its memory is bounded by twice the limit for each key that is read, and one row. */
export function createPointsReader(limit: number, range: StepRange): PointsReader {
  /** All keys, and the keys that are being read. */
  const collected: { readonly key: string; readonly first: FirstPoints }[] = [];
  let wanted = createWantedKeys();
  const openBlock = createBlockOpener();
  let version = 0;

  const addPart = ({ steps, times, keys, sections }: BlockPart): void => {
    const readChunk = openBlock({ steps, times });
    const entries = new DataView(keys.buffer, keys.byteOffset, keys.length);
    let from = 0;
    for (let at = 0; at < keys.length; at += ENTRY_BYTES) {
      const to = from + entries.getUint32(at + 4);
      wanted.byId(entries.getUint32(at))!(readChunk(sections.subarray(from, to)));
      from = to;
    }
  };

  return {
    add(row) {
      if (row.kind === "run") version = row.version;
      else if (row.kind === "key") {
        const first = createFirstPoints(pointsToRead(limit), range);
        collected.push({ key: row.key, first });
        wanted.add({ keyId: row.keyId, take: first.add });
      } else if (row.kind === "chunk") wanted.byId(row.keyId)!(openBlock(row.axis)(row.section));
      else if (row.kind === "block") addPart(row.part);
      else wanted.takeSegment(row.segment);
    },
    nextKeys() {
      wanted = createWantedKeys();
    },
    count: () => collected.reduce((sum, { first }) => sum + first.count(), 0),
    take() {
      const keys: KeyPoints[] = [];
      let left = limit;
      for (const { key, first } of collected) {
        const count = first.count();
        if (count > 0 && left > 0) keys.push({ key, points: first.take(left) });
        if (count > left) return { keys, truncated: true, version };
        left -= count;
      }
      return { keys, truncated: false, version };
    },
  };
}

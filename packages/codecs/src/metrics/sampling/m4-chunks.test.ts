import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { blockColumnsOf } from "../columns/block-columns.fixture.ts";
import { readChunkStatistics, type ChunkStatistics } from "../blocks/chunk-statistics.ts";
import { bitsOf } from "../columns/metric-columns.fixture.ts";
import { encodeBlock } from "../blocks/encode-block.ts";
import { bucketOf, createM4Sampler, type M4Sampler } from "./m4.ts";

type Point = readonly [step: number, value: number];

/** Returns the statistics of the points as a block keeps them. */
function statisticsOf(points: readonly Point[]): ChunkStatistics {
  const columns = blockColumnsOf(
    points.map(([step, value]) => ({ step, receivedUs: 0, timestampUs: null, values: new Map([[0, value]]) })),
  );
  return readChunkStatistics(encodeBlock(columns, { firstKey: 0, width: 16, effort: "fast" }).statistics!);
}

function inBits(sampler: M4Sampler) {
  const { steps, values } = sampler.sample();
  return { steps: bitsOf(steps), values: bitsOf(values) };
}

const step = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.double({ min: 0, max: 40, noNaN: true }));
const value = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: -2, max: 2 }) },
  { weight: 9, arbitrary: fc.constantFrom(-0, 0) },
  { weight: 9, arbitrary: fc.double({ noNaN: true }) },
  { weight: 2, arbitrary: fc.constant(NaN) },
);
/** Chunks in the order of arrival. Most continue where the previous one ended, and some go back. */
const chunks = fc.array(
  fc
    .tuple(fc.array(fc.tuple(step, value), { minLength: 1, maxLength: 12 }), fc.constantFrom(1, 0.05), fc.nat(40))
    .map(([points, stretch, from]) => points.map(([s, v]): Point => [Math.min(40, from + s * stretch), v])),
  { minLength: 1, maxLength: 12 },
);

describe("an M4 sample of chunks", () => {
  test("is the same from the statistics of chunks of one bucket and the points of the others as from all points", () => {
    let byStatistics = 0;
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 12 }), (series, buckets) => {
        const points = series.flat();
        const steps = points.map(([s]) => s);
        const range = [Math.min(...steps), Math.max(...steps)] as const;
        const ofPoints = createM4Sampler(...range, buckets);
        for (const point of points) ofPoints.add(...point);
        const ofStatistics = createM4Sampler(...range, buckets);
        for (const chunk of series) {
          if (ofStatistics.addChunk(statisticsOf(chunk))) byStatistics++;
          else for (const point of chunk) ofStatistics.add(...point);
        }
        expect(inBits(ofStatistics)).toEqual(inBits(ofPoints));
      }),
      { numRuns: 500 },
    );
    expect(byStatistics).toBeGreaterThan(0);
  });

  test("takes statistics if all steps of the chunk are in one bucket, and otherwise nothing", () => {
    const sampler = createM4Sampler(0, 9, 2);
    expect(
      sampler.addChunk(
        statisticsOf([
          [3, 1],
          [5, 2],
        ]),
      ),
    ).toBe(false);
    expect(sampler.sample().steps).toHaveLength(0);
    expect(
      sampler.addChunk(
        statisticsOf([
          [0, 1],
          [4, 2],
        ]),
      ),
    ).toBe(true);
    expect([...sampler.sample().steps]).toEqual([0, 4]);
  });

  test("does not take statistics of a chunk that reaches outside the range of steps", () => {
    const sampler = createM4Sampler(2, 4, 1);
    expect(
      sampler.addChunk(
        statisticsOf([
          [1, 1],
          [3, 2],
        ]),
      ),
    ).toBe(false);
    expect(
      sampler.addChunk(
        statisticsOf([
          [3, 1],
          [5, 2],
        ]),
      ),
    ).toBe(false);
    expect(sampler.sample().steps).toHaveLength(0);
  });

  test("takes statistics of no points, which add nothing", () => {
    const sampler = createM4Sampler(2, 4, 1);
    expect(sampler.addChunk(readChunkStatistics(new Uint8Array(0)))).toBe(true);
    expect(sampler.sample().steps).toHaveLength(0);
  });
});

describe("the bucket of a step", () => {
  test("is never lower than that of a lower step, for any doubles", () => {
    const any = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.tuple(any, any, any, any), fc.integer({ min: 1, max: 4_096 }), (four, buckets) => {
        const [first, low, high, last] = four.toSorted((a, b) => a - b) as [number, number, number, number];
        const [a, b] = [bucketOf(low, first, last, buckets), bucketOf(high, first, last, buckets)];
        expect(a).toBeLessThanOrEqual(b);
        expect(a).toBeGreaterThanOrEqual(0);
        expect(b).toBeLessThan(buckets);
      }),
    );
  });
});

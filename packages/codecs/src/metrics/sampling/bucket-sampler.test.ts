import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { encodeBlock } from "../blocks/encode-block.ts";
import { readSummedChunk, type SummedChunk } from "../blocks/chunk-statistics.ts";
import { blockColumnsOf } from "../columns/block-columns.fixture.ts";
import { CHUNK_STATISTICS_BYTES, CHUNK_SUM_BYTES } from "../storage-layout.ts";
import { createBucketSampler, gridOf, leftEdge, bucketIndex } from "./bucket-sampler.ts";

type Point = readonly [step: number, value: number];

/** Returns the statistics that a block has of points. */
function chunkOf(points: readonly Point[]): SummedChunk {
  const { statistics, sums } = encodeBlock(
    blockColumnsOf(
      points.map(([step, value]) => ({ step, receivedUs: 1, timestampUs: null, values: new Map([[0, value]]) })),
    ),
    { firstKey: 0, width: 16, effort: "fast" },
  );
  return readSummedChunk(Uint8Array.of(...statistics!, ...sums!));
}

const anyPoint = fc.tuple(
  fc.nat(30),
  fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: -3, max: 3 }) },
    { weight: 9, arbitrary: fc.double({ min: -9, max: 9, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
  ),
);

describe("a grid", () => {
  test("between whole numbers has whole edges, and the last number has a width too", () => {
    const grid = gridOf(0, 999, 10);
    expect([0, 99, 100, 999].map((step) => bucketIndex(grid, step))).toEqual([0, 0, 1, 9]);
    expect([0, 1, 9].map((place) => leftEdge(grid, place))).toEqual([0, 100, 900]);
  });

  test("of fewer whole numbers than parts, or between others, is cut as it is and has its end in the last part", () => {
    const grid = gridOf(0, 1, 10);
    expect([0, 0.05, 0.1, 0.99, 1].map((step) => bucketIndex(grid, step))).toEqual([0, 0, 1, 9, 9]);
    expect(leftEdge(gridOf(0.5, 1.5, 4), 1)).toBe(0.75);
  });

  test("of one number has one part", () => {
    expect(bucketIndex(gridOf(7, 7, 100), 7)).toBe(0);
  });

  test("never puts a higher number in a lower part, nor outside", () => {
    const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(
        fc.array(anyNumber, { minLength: 2, maxLength: 20 }),
        fc.integer({ min: 1, max: 50 }),
        (numbers, buckets) => {
          const sorted = numbers.toSorted((a, b) => a - b);
          const grid = gridOf(sorted[0]!, sorted.at(-1)!, buckets);
          const places = sorted.map((number) => bucketIndex(grid, number));
          expect(places).toEqual(places.toSorted((a, b) => a - b));
          expect(places.every((place) => Number.isInteger(place) && place >= 0 && place < buckets)).toBe(true);
        },
      ),
    );
  });
});

describe("buckets", () => {
  test("are the same from chunks as from points, means included", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(anyPoint, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 8 }),
        (pieces, buckets) => {
          const steps = pieces.flat().map(([step]) => step);
          const grid = gridOf(Math.min(...steps), Math.max(...steps), buckets);
          const [byPoint, byChunk] = [createBucketSampler(grid), createBucketSampler(grid)];
          for (const points of pieces) {
            const one = (sampler: typeof byPoint): void =>
              points.forEach(([step, value]) =>
                sampler.addStretch(Float64Array.of(step), Float64Array.of(value), 0, 1),
              );
            one(byPoint);
            if (!byChunk.addChunk(chunkOf(points))) one(byChunk);
          }
          const [found, wanted] = [byChunk.take(), byPoint.take()];
          expect(byChunk.count()).toBe(steps.length);
          expect({ ...found, mean: [] }).toEqual({ ...wanted, mean: [] });
          found.mean.forEach((mean, i) => {
            expect(Number.isNaN(mean)).toBe(Number.isNaN(wanted.mean[i]!));
            if (Number.isNaN(mean)) return;
            expect(Math.abs(mean - wanted.mean[i]!)).toBeLessThanOrEqual(2 ** -52 * Math.abs(mean) + 1e-30);
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("without points are left out, and a chunk of several parts is not taken", () => {
    const sampler = createBucketSampler(gridOf(0, 9, 10));
    expect(
      sampler.addChunk(
        chunkOf([
          [2, 1],
          [7, 2],
        ]),
      ),
    ).toBe(false);
    expect(sampler.addChunk({ ...chunkOf([[2, 1]]), count: 0 })).toBe(true);
    expect(sampler.take().step).toHaveLength(0);
    expect(
      sampler.addChunk(
        chunkOf([
          [7, 2],
          [7, 4],
        ]),
      ),
    ).toBe(true);
    expect(Object.values(sampler.take()).map((column) => [...column])).toEqual([[7], [2], [4], [3], [2], [2], [4], []]);
  });

  test("are over finite values, count the others, and have no values without a finite one", () => {
    const sampler = createBucketSampler(gridOf(0, 29, 3));
    const take = (...points: Point[]): void =>
      sampler.addStretch(
        Float64Array.from(points, ([step]) => step),
        Float64Array.from(points, ([, value]) => value),
        0,
        points.length,
      );
    take([0, NaN], [1, 4], [2, -Infinity], [3, 2], [9, Infinity]);
    take([10, NaN], [11, NaN]);
    take([20, 1]);
    expect(sampler.count()).toBe(8);
    expect(Object.fromEntries(Object.entries(sampler.take()).map(([name, column]) => [name, [...column]]))).toEqual({
      step: [0, 10, 20],
      min: [2, NaN, 1],
      max: [4, NaN, 1],
      mean: [3, NaN, 1],
      count: [2, 0, 1],
      first: [4, NaN, 1],
      last: [2, NaN, 1],
      nonFinite: [3, 2, 0],
    });
    expect(sampler.addChunk(chunkOf([[1, NaN]]))).toBe(false);
  });

  test("have means of values whose sum no double holds, and of such as cancel each other out", () => {
    const mean = (values: readonly number[]): number => {
      const sampler = createBucketSampler(gridOf(0, 0, 1));
      sampler.addStretch(new Float64Array(values.length), Float64Array.from(values), 0, values.length);
      return sampler.take().mean[0]!;
    };
    expect(mean([Number.MAX_VALUE, Number.MAX_VALUE])).toBe(Number.MAX_VALUE);
    expect(mean([Number.MAX_VALUE, -Number.MAX_VALUE, 3, 3])).toBeCloseTo(1.5, 12);
    expect(mean([1e16, 1, -1e16])).toBeCloseTo(1 / 3, 15);
    expect(mean([5e-324, 5e-324])).toBe(5e-324);
    expect(mean(Array<number>(10).fill(0.1))).toBe(0.1);
  });
});

test("the sum of a chunk is read with its statistics, and nothing else is", () => {
  expect(
    chunkOf([
      [1, 2.5],
      [0, 0.5],
    ]),
  ).toMatchObject({ count: 2, sum: 3 * 2 ** -40, sumRest: 0 });
  for (const size of [CHUNK_STATISTICS_BYTES, CHUNK_STATISTICS_BYTES + CHUNK_SUM_BYTES + 8]) {
    expect(() => readSummedChunk(new Uint8Array(size))).toThrow(expect.objectContaining({ name: "CodecError" }));
  }
});

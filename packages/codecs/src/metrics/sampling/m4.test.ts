import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createM4Sampler } from "./m4.ts";

type Point = readonly [step: number, value: number];

function sampleOf(points: readonly Point[], buckets: number): Point[] {
  const steps = points.map(([step]) => step);
  const sampler = createM4Sampler(Math.min(...steps), Math.max(...steps), buckets);
  for (const [step, value] of points) sampler.add(step, value);
  const sample = sampler.sample();
  return [...sample.steps].map((step, i) => [step, sample.values[i]!]);
}

/** Samples by the rule, from points sorted by step and arrival. */
function naive(points: readonly Point[], buckets: number): Point[] {
  const sorted = points.map((point, arrival) => ({ point, arrival }));
  sorted.sort((a, b) => a.point[0] - b.point[0] || a.arrival - b.arrival);
  const lo = sorted[0]!.point[0];
  const hi = sorted.at(-1)!.point[0];
  const groups = new Map<number, Point[]>();
  for (const { point } of sorted) {
    const bucket = hi === lo ? 0 : Math.floor(((point[0] - lo) * buckets) / (hi - lo + 1));
    groups.set(bucket, [...(groups.get(bucket) ?? []), point]);
  }
  return [...groups.keys()]
    .sort((a, b) => a - b)
    .flatMap((bucket) => {
      const group = groups.get(bucket)!;
      const finite = group.filter(([, value]) => Number.isFinite(value));
      const extreme = (of: (...values: number[]) => number): Point | undefined =>
        finite.find(([, value]) => value === of(...finite.map((point) => point[1])));
      const arrivedFirst = points.find((point) => group.includes(point))!;
      const lowest = extreme(Math.min) ?? arrivedFirst;
      const highest = extreme(Math.max) ?? arrivedFirst;
      const four = [group[0]!, group.at(-1)!, lowest, highest].sort((a, b) => a[0] - b[0]);
      return four.filter(([step], i) => i === 0 || step !== four[i - 1]![0]);
    });
}

describe("an M4 sample", () => {
  test("keeps the first, last, lowest and highest point of each bucket", () => {
    const points: Point[] = [
      [0, 5],
      [1, 9],
      [2, 1],
      [3, 4],
      [4, 7],
      [5, 7],
      [6, 2],
      [7, 3],
    ];
    expect(sampleOf(points, 2)).toEqual([
      [0, 5],
      [1, 9],
      [2, 1],
      [3, 4],
      [4, 7],
      [6, 2],
      [7, 3],
    ]);
  });

  test("leaves out buckets without points", () => {
    expect(
      sampleOf(
        [
          [0, 1],
          [99, 2],
        ],
        10,
      ),
    ).toEqual([
      [0, 1],
      [99, 2],
    ]);
  });

  test("has one point where all points share a step", () => {
    expect(
      sampleOf(
        [
          [3, 1],
          [3, 7],
          [3, -7],
        ],
        4,
      ),
    ).toEqual([[3, 1]]);
  });

  test("takes the earlier arrival as first and the later arrival as last", () => {
    expect(
      sampleOf(
        [
          [0, 1],
          [0, 2],
          [5, 1],
          [5, 2],
        ],
        1,
      ),
    ).toEqual([
      [0, 1],
      [5, 2],
    ]);
  });

  test("takes the lowest step of equal minima and maxima, in any order of arrival", () => {
    expect(
      sampleOf(
        [
          [9, 5],
          [4, 0],
          [2, 0],
          [7, 8],
          [6, 8],
          [0, 5],
        ],
        1,
      ),
    ).toEqual([
      [0, 5],
      [2, 0],
      [6, 8],
      [9, 5],
    ]);
  });

  test("ignores points outside the range that it was created for", () => {
    const sampler = createM4Sampler(1, 2, 1);
    for (const step of [0, 1, 2, 3]) sampler.add(step, step);
    expect([...sampler.sample().steps]).toEqual([1, 2]);
  });

  test("stays inside its buckets at steps whose differences a double cannot hold", () => {
    expect(
      sampleOf(
        [
          [0, 1],
          [1e17, 2],
          [1.7e308, 3],
        ],
        3,
      ).map(([step]) => step),
    ).toEqual([0, 1e17, 1.7e308]);
  });

  test("is what the rule says, for any points in any order of arrival", () => {
    const step = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.double({ min: 0, max: 40, noNaN: true }));
    const value = fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: -5, max: 5 }) },
      { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
    );
    const point = fc.tuple(step, value);
    fc.assert(
      fc.property(
        fc.array(point, { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 1, max: 12 }),
        (points, buckets) => {
          expect(sampleOf(points, buckets)).toEqual(naive(points, buckets));
        },
      ),
    );
  });
});

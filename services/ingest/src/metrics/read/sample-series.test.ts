import { describe, expect, test } from "@jest/globals";
import { bucketOf, createM4Sampler } from "@tidemark/codecs/metrics";
import fc from "fast-check";
import { sampleSeries } from "./sample-series.rules.ts";

const anyStep = fc.oneof(
  fc.nat(30),
  fc.nat(120).map((quarters) => quarters / 4),
  fc.constantFrom(5e-324, 1e300),
);
const anyValue = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom(-0, 5e-324));
const anyPiece = fc
  .record({ points: fc.array(fc.tuple(anyStep, anyValue), { maxLength: 60 }), rising: fc.boolean() })
  .map(({ points, rising }) => (rising ? points.toSorted(([a], [b]) => a - b) : points));

describe("points that are passed by stretches", () => {
  test("give the sample that they give one by one, in any grouping", () => {
    fc.assert(
      fc.property(fc.array(anyPiece, { maxLength: 4 }), fc.integer({ min: 1, max: 12 }), (pieces, buckets) => {
        const all = pieces.flat().map(([step]) => step);
        const low = Math.min(...all);
        const high = Math.max(...all);
        const [byOne, byStretch] = [createM4Sampler(low, high, buckets), createM4Sampler(low, high, buckets)];
        for (const points of pieces) {
          for (const [step, value] of points) byOne.add(step, value);
          const steps = Float64Array.from(points, ([step]) => step);
          const values = Float64Array.from(points, ([, value]) => value);
          sampleSeries(byStretch, (step) => bucketOf(step, low, high, buckets), steps, values);
        }
        expect(byStretch.sample()).toEqual(byOne.sample());
      }),
      { numRuns: 500 },
    );
  });

  test("are left out where they lie outside the range of the sample", () => {
    const sampler = createM4Sampler(2, 4, 2);
    const steps = Float64Array.of(0, 1, 2, 3, 4, 5, 6);
    sampleSeries(sampler, (step) => bucketOf(step, 2, 4, 2), steps, steps);
    expect([...sampler.sample().steps]).toEqual([2, 3, 4]);
  });
});

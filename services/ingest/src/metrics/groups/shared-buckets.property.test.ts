import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { groupBuckets, sharedBuckets } from "./shared-buckets.rules.ts";

/** A run as a list of its buckets, with their means. */
const anyRun = fc.dictionary(fc.nat(12).map(String), fc.integer({ min: -9, max: 9 }), { maxKeys: 8 });

test("a bucket has the means of the runs with points in it, in the order of the runs", () => {
  fc.assert(
    fc.property(fc.array(anyRun, { maxLength: 6 }), (runs) => {
      const columns = runs.map((run) => {
        const entries = Object.entries(run).map(([step, mean]) => [Number(step), mean] as const);
        entries.sort(([a], [b]) => a - b);
        return {
          step: Float64Array.from(entries, ([step]) => step),
          mean: Float64Array.from(entries, ([, mean]) => mean),
        };
      });
      const expected = Array.from({ length: 13 }, (_, step) => ({
        step,
        means: runs.flatMap((run) => run[step] ?? []),
      })).filter(({ means }) => means.length > 0);
      const found = Array.from(sharedBuckets(columns), ({ step, means }) => ({ step, means: [...means] }));
      expect(found).toEqual(expected);
    }),
  );
});

test.each<[string, Parameters<typeof groupBuckets>, number]>([
  ["as asked", [500, 2, 10, 1], 500],
  ["120,000 over groups and keys", [4096, 200, 200, 1], 600],
  ["120,000 over groups and 50 keys", [4096, 200, 200, 50], 12],
  ["600,000 over runs and keys", [4096, 1, 1000, 1], 600],
  ["600,000 over runs and 50 keys", [4096, 1, 1000, 50], 12],
])("buckets are %s", (_what, asked, expected) => {
  expect(groupBuckets(...asked)).toBe(expected);
});

import { SERIES_POINTS_MAX } from "../read/series-budget.rules.ts";

/** Buckets of one run in ascending order, on a grid that all runs share. */
export type RunBuckets = { readonly step: Float64Array; readonly mean: Float64Array };

/** A bucket over several runs. */
export type SharedBucket = {
  readonly step: number;
  /** The means of the runs that have points in it, at least one; valid until the next bucket. */
  readonly means: Float64Array;
};

/** Yields the buckets in which at least one of the runs has points, in ascending order. A run without points in a bucket is left out of it. */
export function* sharedBuckets(runs: readonly RunBuckets[]): Generator<SharedBucket, void, undefined> {
  const at = new Uint32Array(runs.length);
  const means = new Float64Array(runs.length);
  for (;;) {
    let step = Infinity;
    runs.forEach((run, i) => (step = Math.min(step, run.step[at[i]!] ?? Infinity)));
    if (step === Infinity) return;
    let count = 0;
    runs.forEach((run, i) => {
      if (run.step[at[i]!] !== step) return;
      means[count++] = run.mean[at[i]!]!;
      at[i]! += 1;
    });
    yield { step, means: means.subarray(0, count) };
  }
}

/** Most buckets of single runs that are in memory at a time. */
const READ_BUCKETS_MAX = 600_000;

/** Returns how many buckets to read series in, so that neither the answer nor its input has too many. */
export function groupBuckets(asked: number, groups: number, runs: number, keys: number): number {
  const answered = Math.floor(SERIES_POINTS_MAX / (groups * keys));
  return Math.max(1, Math.min(asked, answered, Math.floor(READ_BUCKETS_MAX / (runs * keys))));
}

import type { HeadDelta } from "./heads.ts";

/** Heads as one array per field, all of one length and in one order: the arguments of `unnest` in a statement that merges them into stored rows. */
export type HeadColumns = {
  readonly keys: string[];
  readonly counts: number[];
  readonly mins: number[];
  readonly minSteps: number[];
  readonly maxs: number[];
  readonly maxSteps: number[];
  readonly means: number[];
  readonly m2s: number[];
  readonly latests: number[];
  readonly latestSteps: number[];
  readonly firstSteps: number[];
};

/** The fields of the heads as arrays, in the order of the heads. */
export function headColumns(heads: readonly HeadDelta[]): HeadColumns {
  return {
    keys: heads.map((head) => head.key),
    counts: heads.map((head) => head.count),
    mins: heads.map((head) => head.min),
    minSteps: heads.map((head) => head.minStep),
    maxs: heads.map((head) => head.max),
    maxSteps: heads.map((head) => head.maxStep),
    means: heads.map((head) => head.mean),
    m2s: heads.map((head) => head.m2),
    latests: heads.map((head) => head.latest),
    latestSteps: heads.map((head) => head.latestStep),
    firstSteps: heads.map((head) => head.firstStep),
  };
}

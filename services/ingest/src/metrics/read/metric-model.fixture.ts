import { compareKeyBytes } from "@tidemark/codecs/metrics";
import type { StepRange } from "./metric-rows.rules.ts";

/** A point of one key as it was accepted. */
export type ModelPoint = {
  readonly key: string;
  readonly step: number;
  readonly value: number;
  readonly receivedUs: number;
  /** NaN where the client sent none. */
  readonly timestampUs: number;
};

/** A point as an answer shows it. */
export type ShownPoint = readonly [key: string, step: number, value: number, createdUs: number, timestampUs: number];

/** A model of a run without tiers, blocks and pages: all points in the order of arrival, and how reads show them. */
export type RunModel = {
  readonly points: ModelPoint[];
  list(
    query: StepRange & { readonly key?: string | undefined },
    limit: number,
  ): { points: ShownPoint[]; truncated: boolean };
  series(
    key: string,
    range: StepRange,
    budget: { readonly limit: number; readonly buckets: number | undefined; readonly unsampledMax: number },
  ): { points: ShownPoint[]; truncated: boolean; sampled: boolean };
};

const shown = ({ key, step, value, receivedUs, timestampUs }: ModelPoint): ShownPoint => [
  key,
  step,
  value,
  receivedUs,
  timestampUs,
];

/** A run without points. */
export function createRunModel(): RunModel {
  const points: ModelPoint[] = [];

  const matching = (query: StepRange & { readonly key?: string | undefined }): ModelPoint[] =>
    points
      .filter(
        ({ key, step }) =>
          (query.key === undefined || key === query.key) &&
          step >= (query.startStep ?? 0) &&
          step <= (query.endStep ?? Infinity),
      )
      // Stable: equal points stay in the order of arrival.
      .toSorted((a, b) => compareKeyBytes(a.key, b.key) || a.step - b.step);

  const list: RunModel["list"] = (query, limit) => {
    const all = matching(query);
    return { points: all.slice(0, limit).map(shown), truncated: all.length > limit };
  };

  return {
    points,
    list,
    series(key, range, { limit, buckets, unsampledMax }) {
      const ranged = range.startStep !== undefined || range.endStep !== undefined;
      if (buckets === undefined || ranged) return { ...list({ key, ...range }, limit), sampled: false };
      const all = points.filter((point) => point.key === key);
      if (all.length <= unsampledMax) return { ...list({ key, ...range }, unsampledMax), sampled: false };
      return { points: sample(key, all, buckets), truncated: false, sampled: true };
    },
  };
}

/** M4 by its definition: of the points of each bucket, in the order of arrival, the first, last, and the lowest and highest finite ones. */
function sample(key: string, all: readonly ModelPoint[], buckets: number): ShownPoint[] {
  const low = Math.min(...all.map(({ step }) => step));
  const high = Math.max(...all.map(({ step }) => step));
  const bucketOf = (step: number): number =>
    low === high ? 0 : Math.min(Math.floor(((step - low) * buckets) / (high - low + 1)), buckets - 1);
  const picked: ShownPoint[] = [];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const inside = all.filter(({ step }) => bucketOf(step) === bucket);
    if (inside.length === 0) continue;
    const finite = inside.filter(({ value }) => Number.isFinite(value));
    const best = (isBetter: (a: ModelPoint, b: ModelPoint) => boolean, among = inside): ModelPoint =>
      among.reduce((kept, point) => (isBetter(point, kept) ? point : kept), among[0] ?? inside[0]!);
    const four = [
      best((a, b) => a.step < b.step),
      best((a, b) => a.step >= b.step),
      best((a, b) => a.value < b.value || (a.value === b.value && a.step < b.step), finite),
      best((a, b) => a.value > b.value || (a.value === b.value && a.step < b.step), finite),
    ];
    const steps = new Set<number>();
    for (const { step, value } of four.toSorted((a, b) => a.step - b.step)) {
      if (!steps.has(step)) picked.push([key, step, value, 0, Number.NaN]);
      steps.add(step);
    }
  }
  return picked;
}

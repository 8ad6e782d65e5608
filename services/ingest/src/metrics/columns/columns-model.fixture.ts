import type { RunModel } from "../read/metric-model.fixture.ts";

/** How a reference shows a series: points as (step, value, time in milliseconds), buckets as (step, min, max, mean, count, first, last, values that are not finite). */
export type ShownColumns = { readonly sampled: boolean; readonly rows: readonly (readonly number[])[] };

/** The request to a reference. */
export type ModelQuery = {
  readonly startStep: number | undefined;
  readonly endStep: number | undefined;
  readonly afterStep: number | undefined;
  readonly buckets: number | undefined;
  readonly limit: number;
  readonly edges: boolean;
};

type ModelPoint = { readonly step: number; readonly value: number; readonly timeMs: number };

/** Returns the points of a key by step and arrival. */
export function pointsOf(model: RunModel, key: string): ModelPoint[] {
  return model.points
    .filter((point) => point.key === key)
    .map(({ step, value, receivedUs, timestampUs }) => ({
      step,
      value,
      timeMs: Math.floor((Number.isNaN(timestampUs) ? receivedUs : timestampUs) / 1000),
    }))
    .toSorted((a, b) => a.step - b.step);
}

/** Shows points, from a plain list of all of them. `range` is the range of the grid where no bounds are given. */
export function showPoints(
  points: readonly ModelPoint[],
  query: ModelQuery,
  range: { readonly low: number; readonly high: number },
): ShownColumns {
  const { startStep, endStep, afterStep, buckets, limit, edges } = query;
  const isBelow = (step: number): boolean => step < (startStep ?? 0) || (afterStep !== undefined && step <= afterStep);
  const isAbove = (step: number): boolean => endStep !== undefined && step > endStep;
  const inside = points.filter(({ step }) => !isBelow(step) && !isAbove(step));
  const before = edges ? points.filter(({ step }) => isBelow(step)).at(-1) : undefined;
  const after = edges ? points.find(({ step }) => isAbove(step)) : undefined;
  if (buckets === undefined || inside.length <= buckets) {
    const most = buckets ?? limit;
    const shown = [before, ...inside.slice(0, most), inside.length > most ? undefined : after];
    return {
      sampled: false,
      rows: shown.filter((point) => point !== undefined).map(({ step, value, timeMs }) => [step, value, timeMs]),
    };
  }
  const low = startStep ?? afterStep ?? range.low;
  const high = endStep ?? range.high;
  const isWhole = Number.isInteger(low) && Number.isInteger(high) && high - low + 1 >= buckets;
  const span = isWhole ? high - low + 1 : high - low;
  const groups = Map.groupBy(inside, ({ step }) => {
    const part = Math.floor(((step - low) * buckets) / span);
    return span === 0 ? 0 : part < buckets ? part : buckets - 1;
  });
  const edge = (point: ModelPoint | undefined): number[][] =>
    point === undefined ? [] : [[point.step, ...bucketOf([point.value])]];
  return {
    sampled: true,
    rows: [
      ...edge(before),
      ...[...groups].map(([part, own]) => {
        return [low + (part * span) / buckets, ...bucketOf(own.map(({ value }) => value))];
      }),
      ...edge(after),
    ],
  };
}

function bucketOf(values: readonly number[]): number[] {
  const finite = values.filter(Number.isFinite);
  const others = values.length - finite.length;
  if (finite.length === 0) return [NaN, NaN, NaN, 0, NaN, NaN, others];
  return [
    Math.min(...finite),
    Math.max(...finite),
    exactMean(finite),
    finite.length,
    finite[0]!,
    finite.at(-1)!,
    others,
  ];
}

/** Returns the mean of doubles, calculated with whole numbers of unbounded size and rounded once at the end. */
function exactMean(values: readonly number[]): number {
  // Every double is a whole multiple of 2^-1074.
  const UNIT = 1074;
  const toUnits = (value: number): bigint => {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, Math.abs(value));
    const bits = view.getBigUint64(0);
    const exponent = Number(bits >> 52n);
    const fraction = bits & ((1n << 52n) - 1n);
    const units = exponent === 0 ? fraction : (fraction | (1n << 52n)) << BigInt(exponent - 1);
    return value < 0 ? -units : units;
  };
  // Two more digits than a double has; the remainder of the division is ignored.
  const sum = values.map(toUnits).reduce((a, b) => a + b, 0n);
  const isNegative = sum < 0n;
  const scaled = ((isNegative ? -sum : sum) << 128n) / BigInt(values.length);
  const drop = Math.max(0, scaled.toString(2).length - 64);
  const mean = Number(scaled >> BigInt(drop)) * 2 ** Math.max(-1000, drop - 128 - UNIT + 1000) * 2 ** -1000;
  return isNegative ? -mean : mean;
}

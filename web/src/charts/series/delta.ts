import type { Series } from "./series.ts";

/**
 * Returns the step behind which everything is new to charts of these runs that still run: the least of their latest ones. Undefined where a run has no
 * points yet, so that all has to be read.
 */
export function newBehind(series: readonly Series[], runningIds: readonly string[]): number | undefined {
  const last = new Map(series.map((one) => [one.runId, one.step.at(-1)!]));
  const steps = runningIds.map((id) => last.get(id));
  if (steps.length === 0 || steps.some((step) => step === undefined || step < 0)) return undefined;
  return Math.min(...(steps as number[]));
}

/** Returns series with the points after their last steps. In a series of buckets, new points are buckets of one point, until it is read again. */
export function withNew(series: readonly Series[], added: readonly Series[]): readonly Series[] {
  const byRun = new Map(added.map((one) => [one.runId, one]));
  return series.map((one) => {
    const more = byRun.get(one.runId);
    if (more === undefined) return one;
    const last = one.step.at(-1) ?? -Infinity;
    const from = more.step.findIndex((step) => step > last);
    return from < 0 ? one : appended(one, more, from);
  });
}

/** How many entries series have in all. */
export function entriesOf(series: readonly Series[]): number {
  return series.reduce((sum, { step }) => sum + step.length, 0);
}

function appended(one: Series, more: Series, from: number): Series {
  const join = (a: Float64Array, b: Float64Array): Float64Array => {
    const both = new Float64Array(a.length + b.length - from);
    both.set(a);
    both.set(b.subarray(from), a.length);
    return both;
  };
  const common = { ...one, x: join(one.x, more.x), step: join(one.step, more.step), y: join(one.y, more.y) };
  if (!one.sampled && !more.sampled) return common;
  const single = (series: Series): Float64Array => series.count ?? new Float64Array(series.y.length).fill(1);
  const column = (name: "low" | "high" | "first" | "last"): Float64Array =>
    join(one[name] ?? one.y, more[name] ?? more.y);
  return {
    ...common,
    sampled: true,
    low: column("low"),
    high: column("high"),
    first: column("first"),
    last: column("last"),
    count: join(single(one), single(more)),
  };
}

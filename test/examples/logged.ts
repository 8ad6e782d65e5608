import type { LoggedCall } from "./run-example.ts";

/** Step and value, in the order of the steps. */
export type Series = readonly (readonly [step: number, value: number])[];

/** What the `log` calls of an example say about each key. Both examples give the step by name or as second argument. */
export function loggedMetrics(calls: readonly LoggedCall[]): Record<string, Series> {
  const series: Record<string, [number, number][]> = {};
  for (const { args, kwargs } of callsOf(calls, "log")) {
    const step = (kwargs?.["step"] ?? args[1]) as number;
    for (const [key, value] of Object.entries(args[0] as Record<string, number>)) {
      (series[key] ??= []).push([step, value]);
    }
  }
  return series;
}

/** The calls of one method. */
export function callsOf(calls: readonly LoggedCall[], method: string): readonly LoggedCall[] {
  return calls.filter((call) => call.method === method);
}

/** The lists that were the first argument of a method's calls, as one list. */
export function listed(
  calls: readonly LoggedCall[],
  method: string,
  where: (call: LoggedCall) => boolean = () => true,
): unknown[] {
  return callsOf(calls, method)
    .filter(where)
    .flatMap(({ args }) => args[0] as unknown[]);
}

/** Path and value of every leaf of a document; lists are leaves. */
export function leaves(document: unknown, path: string): [path: string, value: unknown][] {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return [[path, document]];
  return Object.entries(document).flatMap(([name, value]) => leaves(value, `${path}/${name}`));
}

/** The aggregates that a run shows for a series; for a loss less is better. */
export function aggregatesOf(key: string, series: Series): Record<string, unknown> {
  const values = series.map(([, value]) => value);
  const min = Math.min(...values);
  const max = Math.max(...values);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const best = key.endsWith("loss") ? min : max;
  return {
    count: series.length,
    latest: values.at(-1),
    min,
    max,
    mean: nearly(mean),
    variance: nearly(variance),
    best_step: series.find(([, value]) => value === best)?.[0],
  };
}

/** Equal but for the last few of about 16 digits: sums depend on their order. */
function nearly(value: number): { asymmetricMatch(other: unknown): boolean; toString(): string } {
  return {
    asymmetricMatch: (other) => typeof other === "number" && Math.abs(other - value) <= Math.abs(value) * 1e-9 + 1e-12,
    toString: () => `nearly ${value}`,
  };
}

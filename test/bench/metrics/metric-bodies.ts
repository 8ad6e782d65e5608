import type { MetricWrite } from "./write-load.ts";

/** Makes the JSON bodies of writes of one shape. The text of batches whose values recur is made once. */
export type MetricBodies = {
  /** Body of `POST /runs/{run_id}/metrics`: the write's first point. */
  readonly single: (write: MetricWrite) => string;
  /** Body of `POST /runs/{run_id}/metrics/batch`. */
  readonly batch: (write: MetricWrite) => string;
};

/**
 * `points` steps of these keys from the tape. The text of batches from the places `recurring` is made at once, so that it is no
 * part of what is measured later.
 */
export function metricBodies(
  tape: Float64Array,
  points: number,
  keys: readonly string[],
  recurring: Iterable<number> = [],
): MetricBodies {
  const names = keys.map((key) => `${JSON.stringify(key)}:`);
  const pointsOf = new Map<number, readonly string[]>();

  const metricsText = (from: number): string => {
    let text = "";
    for (const [key, name] of names.entries()) text += `${key === 0 ? "" : ","}${name}${tape[from + key]}`;
    return `{"metrics":{${text}},"step":`;
  };
  const fragments = (from: number): readonly string[] => {
    let known = pointsOf.get(from);
    if (known === undefined) {
      known = Array.from({ length: points }, (_, point) => metricsText(from + point * keys.length));
      pointsOf.set(from, known);
    }
    return known;
  };
  for (const from of recurring) fragments(from);
  return {
    single: ({ firstStep, tapeFrom }) => `${metricsText(tapeFrom)}${firstStep},"timestamp":null}`,
    batch: ({ firstStep, tapeFrom }) => {
      let body = "";
      for (const [point, text] of fragments(tapeFrom).entries()) {
        body += `${point === 0 ? "" : ","}${text}${firstStep + point}}`;
      }
      return `{"points":[${body}]}`;
    },
  };
}

/** A batch body of whole series: `series[k][step]` for steps [from, to). */
export function seriesBody(keys: readonly string[], series: readonly Float64Array[], from: number, to: number): string {
  const points: string[] = [];
  for (let step = from; step < to; step += 1) {
    const metrics = keys.map((key, at) => `${JSON.stringify(key)}:${series[at]?.[step]}`);
    points.push(`{"metrics":{${metrics.join(",")}},"step":${step}}`);
  }
  return `{"points":[${points.join(",")}]}`;
}

import type { MetricWrite } from "./write-load.ts";

/** Bytes for the step of a point with what follows it, and for what surrounds all points. */
const STEP_BYTES_MAX = 20;
const BRACES_BYTES_MAX = 20;

/** Makes the JSON bodies of writes of one shape. */
export type MetricBodies = {
  /** Body of `POST /runs/{run_id}/metrics`: the write's first point. */
  readonly single: (write: MetricWrite) => string;
  /**
   * Body of `POST /runs/{run_id}/metrics/batch`, as bytes: to make them of a text of megabytes takes as long as its way to the server, and
   * would be part of the latency.
   */
  readonly batch: (write: MetricWrite) => Buffer;
};

/**
 * `points` steps of these keys from the tape. What is always the same of batches from the places `recurring` is made in advance, so that it is not
 * part of what is measured later.
 */
export function metricBodies(
  tape: Float64Array,
  points: number,
  keys: readonly string[],
  recurring: Iterable<number> = [],
): MetricBodies {
  const names = keys.map((key) => `${JSON.stringify(key)}:`);
  const pointsOf = new Map<number, readonly Buffer[]>();

  const metricsText = (from: number): string => {
    let text = "";
    for (const [key, name] of names.entries()) text += `${key === 0 ? "" : ","}${name}${tape[from + key]}`;
    return `{"metrics":{${text}},"step":`;
  };
  const fragments = (from: number): readonly Buffer[] => {
    let known = pointsOf.get(from);
    if (known === undefined) {
      known = Array.from({ length: points }, (_, point) => Buffer.from(metricsText(from + point * keys.length)));
      pointsOf.set(from, known);
    }
    return known;
  };
  for (const from of recurring) fragments(from);
  return {
    single: ({ firstStep, tapeFrom }) => `${metricsText(tapeFrom)}${firstStep},"timestamp":null}`,
    batch({ firstStep, tapeFrom }) {
      const parts = fragments(tapeFrom);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      const body = Buffer.allocUnsafe(BRACES_BYTES_MAX + bytes + points * STEP_BYTES_MAX);
      let at = body.write('{"points":[', "latin1");
      for (const [point, part] of parts.entries()) {
        at += part.copy(body, at);
        at += body.write(`${firstStep + point}}${point + 1 < points ? "," : "]}"}`, at, "latin1");
      }
      return body.subarray(0, at);
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

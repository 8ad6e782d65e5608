// Bodies of metric writes as `instantml` sends them: JSON as Python writes it, with a client time to the microsecond at each point.

const FIRST_US = 1_767_323_045_678_901;
const STEP_US = 100_000;

/** Microseconds by which steps miss their beat, as those of a training loop do. */
const jitterUs = (step: number): number => (step * 48_271) % 65_537;

/** Prints microseconds since 1970 as a time in UTC without its zone: `2026-01-02T03:04:05.678901`. */
export function printMicros(micros: number): string {
  return `${new Date(micros / 1000).toISOString().slice(0, 19)}.${String(micros % 1_000_000).padStart(6, "0")}`;
}

/** The client time of a step: ten steps a second, none of them on the dot. */
const pointTime = (step: number): string => printMicros(FIRST_US + step * STEP_US + jitterUs(step));

/** Prints the members of `metrics` of a point. */
export function printMetrics(keys: readonly string[], valueOf: (key: number) => number | undefined): string {
  return keys.map((key, at) => `${JSON.stringify(key)}: ${valueOf(at)}`).join(", ");
}

/** Returns the body of `POST /runs/{run_id}/metrics` as version 0.1.1 sends a step from its queue. */
export function stepBody(metrics: string, step: number): string {
  return `{"metrics": {${metrics}}, "preview": false, "preview_completion": 0.0, "step": ${step}, "timestamp": "${pointTime(step)}Z"}`;
}

/** Returns the body of `POST /runs/{run_id}/metrics/batch` with the steps [from, to) of whole series, as the uploader of later versions makes it. */
export function seriesBody(keys: readonly string[], series: readonly Float64Array[], from: number, to: number): string {
  const points: string[] = [];
  for (let step = from; step < to; step += 1) {
    const metrics = printMetrics(keys, (key) => series[key]?.[step]);
    points.push(`{"metrics": {${metrics}}, "step": ${step}, "timestamp": "${pointTime(step)}+00:00"}`);
  }
  return `{"points": [${points.join(", ")}]}`;
}

// Bodies of metric writes as `instantml` sends them: JSON as Python writes it, with a client time to the microsecond at each point.

const FIRST_US = 1_767_323_045_678_901;
const STEP_US = 100_000;

/** Microseconds by which steps miss their beat, as those of a training loop do. */
const jitterUs = (step: number): number => (step * 48_271) % 65_537;

/** Prints microseconds since 1970 as a time in UTC without its zone: `2026-01-02T03:04:05.678901`. */
function printMicros(micros: number): string {
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

/** Makes batches that differ in their steps and times. Printing hundreds of points for each request would be the generator's work, not the server's. */
export type BatchTemplate = {
  /** Returns the body of the batch of this number, from 0, of a run. */
  readonly body: (turn: number) => Buffer;
};

/** Steps have eight digits, so that a later one takes the same place. */
const FIRST_STEP = 10_000_000;
const STEP_DIGITS = 8;
/** Each batch is a minute of a run. */
const MINUTE_US = 60_000_000;
const FIRST_MINUTE_US = Date.UTC(2026, 0, 2, 3, 4) * 1000;
/** Characters of a time up to its seconds. */
const MINUTE_CHARACTERS = "2026-01-02T03:04:".length;
const ZERO = "0".charCodeAt(0);

function writeStep(body: Buffer, at: number, step: number): void {
  let rest = step;
  for (let place = at + STEP_DIGITS - 1; place >= at; place -= 1) {
    body[place] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** Prints the points of a batch. @param values of the first point, key after key, then of the second, … @param timed whether points have a client time */
export function batchTemplate(keys: readonly string[], values: Float64Array, timed: boolean): BatchTemplate {
  const points = values.length / keys.length;
  const [stepsAt, timesAt]: [number[], number[]] = [[], []];
  let text = '{"points": [';
  for (let point = 0; point < points; point += 1) {
    const metrics = printMetrics(keys, (key) => values[point * keys.length + key]);
    text += `${point === 0 ? "" : ", "}{"metrics": {${metrics}}, "step": `;
    stepsAt.push(text.length);
    text += String(FIRST_STEP);
    if (timed) {
      text += ', "timestamp": "';
      timesAt.push(text.length);
      // Within the minute, with all digits.
      text += `${printMicros(FIRST_MINUTE_US + Math.floor((point * MINUTE_US * 0.99) / points) + ((point * 48_271) % 65_537))}+00:00"`;
    }
    text += "}";
  }
  const printed = Buffer.from(`${text}]}`, "latin1");
  return {
    body(turn) {
      const body = Buffer.from(printed);
      const minute = Buffer.from(printMicros(FIRST_MINUTE_US + turn * MINUTE_US).slice(0, MINUTE_CHARACTERS), "latin1");
      for (const at of timesAt) body.set(minute, at);
      for (const [point, at] of stepsAt.entries()) writeStep(body, at, FIRST_STEP + turn * points + point);
      return body;
    },
  };
}

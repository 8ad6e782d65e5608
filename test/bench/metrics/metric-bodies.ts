import { pointTime, pointTimeWriter, writeDigits } from "./point-times.ts";
import type { MetricWrite } from "./write-load.ts";

/*
 * Bodies of metric writes, byte for byte as `instantml` sends them. Its version 0.1.1 sends an event from its queue as one request, its members
 * sorted by their names, JSON with blanks after commas and colons as Python writes it, a time with microseconds. Its uploader of later versions puts
 * the neighboring events of a run into a batch of points.
 */

/** What a benchmark prints about its requests. */
export const bodiesNote =
  "Bodies as `instantml` sends them: a single step as 0.1.1 does from its queue, a batch as later versions do; each point with a client time, each request with an idempotency key.";

/** Zones of times, as they are sent in the two kinds of requests. */
const EVENT_ZONE = "Z";
const BATCH_ZONE = "+00:00";
/** Between points, as Python writes it. */
const SEPARATOR = ", ";

/** Bytes for what surrounds all points, and for the step of a point with all that follows it. */
const BRACES_BYTES_MAX = 20;
const REST_BYTES_MAX = 80;

/** What bodies are made of. */
export type BodyShape = {
  /** Steps of a batch. */
  readonly points: number;
  readonly keys: readonly string[];
  /** Whether points have a client time. Default: true. */
  readonly timed?: boolean;
  /**
   * The places of the tape that batches come back to. What is always the same of them is made in advance, so that it is not part of what is
   * measured later.
   */
  readonly recurring?: Iterable<number>;
};

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

/** Makes bodies of steps of these keys from the tape. */
export function metricBodies(tape: Float64Array, shape: BodyShape): MetricBodies {
  const { points, keys, timed = true, recurring = [] } = shape;
  const names = keys.map((key) => `${JSON.stringify(key)}: `);
  const pointsOf = new Map<number, readonly Buffer[]>();
  const writeRest = timed
    ? pointTimeWriter(', "timestamp": "', `${BATCH_ZONE}"}${SEPARATOR}`)
    : (target: Buffer, at: number): number => at + target.write(`}${SEPARATOR}`, at, "latin1");

  const metricsOf = (from: number): string => names.map((name, key) => `${name}${tape[from + key]}`).join(", ");
  const fragments = (from: number): readonly Buffer[] => {
    let known = pointsOf.get(from);
    if (known === undefined) {
      known = Array.from({ length: points }, (_, point) =>
        Buffer.from(`{"metrics": {${metricsOf(from + point * keys.length)}}, "step": `),
      );
      pointsOf.set(from, known);
    }
    return known;
  };
  for (const from of recurring) fragments(from);
  return {
    single({ firstStep, tapeFrom }) {
      return eventBody(metricsOf(tapeFrom), firstStep, timed);
    },
    batch({ firstStep, tapeFrom }) {
      const parts = fragments(tapeFrom);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      const body = Buffer.allocUnsafe(BRACES_BYTES_MAX + bytes + points * REST_BYTES_MAX);
      let at = body.write('{"points": [', "latin1");
      for (const [point, part] of parts.entries()) {
        const step = firstStep + point;
        body.set(part, at);
        at += part.length;
        const digits = String(step).length;
        writeDigits(body, at, digits, step);
        at = writeRest(body, at + digits, step);
      }
      // There is no comma after the last one.
      at += body.write("]}", at - SEPARATOR.length, "latin1") - SEPARATOR.length;
      return body.subarray(0, at);
    },
  };
}

/** Returns the body of one step of metrics. @param metrics the members of `metrics` as JSON */
export function eventBody(metrics: string, step: number, timed = true): string {
  const time = timed ? `"${pointTime(step)}${EVENT_ZONE}"` : "null";
  return `{"metrics": {${metrics}}, "preview": false, "preview_completion": 0.0, "step": ${step}, "timestamp": ${time}}`;
}

/** Returns the body of one step of whole series: `series[k][step]`. */
export function seriesEvent(keys: readonly string[], series: readonly Float64Array[], step: number): string {
  return eventBody(seriesMetrics(keys, series, step), step);
}

/** Returns the body of a batch of whole series, the steps [from, to). */
export function seriesBody(keys: readonly string[], series: readonly Float64Array[], from: number, to: number): string {
  const points: string[] = [];
  for (let step = from; step < to; step += 1) {
    const time = `"${pointTime(step)}${BATCH_ZONE}"`;
    points.push(`{"metrics": {${seriesMetrics(keys, series, step)}}, "step": ${step}, "timestamp": ${time}}`);
  }
  return `{"points": [${points.join(", ")}]}`;
}

function seriesMetrics(keys: readonly string[], series: readonly Float64Array[], step: number): string {
  return keys.map((key, at) => `${JSON.stringify(key)}: ${series[at]?.[step]}`).join(", ");
}

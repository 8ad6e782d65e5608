import { Pool } from "undici";

/** One request of a load. */
export type Shot = { method: "GET" | "POST"; path: string; body?: string; headers?: Record<string, string> };

/** What a load measured. */
export type LoadResult = {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  /** Answers that were no 200, or that did not come. */
  errors: number;
  firstError: string | undefined;
};

/** How to load. */
export type LoadOptions = {
  baseUrl: string;
  key: string;
  concurrency: number;
  /** Seconds before the measurement. */
  warmUp: number;
  seconds: number;
  /** A new connection for each request instead of kept ones. */
  fresh?: boolean;
  shot: (index: number) => Shot;
};

/** The value below which the share of the sorted numbers lies. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Keeps `concurrency` requests on the way for a while: a closed loop, which tells capacity.
 * `onMeasure` is called when the warm-up ends and again at the end, to take CPU readings.
 */
export async function runLoad(options: LoadOptions, onMeasure: () => Promise<void>): Promise<LoadResult> {
  const pool = new Pool(options.baseUrl, { connections: options.concurrency, pipelining: 1 });
  const latencies: number[] = [];
  let measuring = false;
  let stop = false;
  let index = 0;
  let errors = 0;
  let firstError: string | undefined;

  const once = async (): Promise<void> => {
    const shot = options.shot(index);
    index += 1;
    const started = performance.now();
    try {
      const answer = await pool.request({
        method: shot.method,
        path: shot.path,
        ...(shot.body === undefined ? {} : { body: shot.body }),
        headers: {
          authorization: `Bearer ${options.key}`,
          ...(shot.body === undefined ? {} : { "content-type": "application/json" }),
          ...shot.headers,
        },
        reset: options.fresh === true,
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text.slice(0, 200)}`);
      if (measuring) latencies.push(performance.now() - started);
    } catch (error) {
      errors += 1;
      firstError ??= String(error);
    }
  };
  const worker = async (): Promise<void> => {
    while (!stop) await once();
  };
  const workers = Array.from({ length: options.concurrency }, worker);
  const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

  await pause(options.warmUp);
  await onMeasure();
  measuring = true;
  const started = performance.now();
  await pause(options.seconds);
  measuring = false;
  const seconds = (performance.now() - started) / 1000;
  const requests = latencies.length;
  await onMeasure();
  stop = true;
  await Promise.all(workers);
  await pool.close();
  latencies.sort((a, b) => a - b);
  return {
    requests,
    seconds,
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    errors,
    firstError,
  };
}

import { ApiError, send } from "../../api/client.ts";
import { createBatcher } from "./batcher.ts";
import { seriesOf, splitSeries, type SentSeries } from "./decode.ts";
import { bytesOf, type Series, type SeriesQuery } from "./series.ts";

/** Points and buckets of an answer (API: `total_point_cap`). */
const POINTS_MAX = 120_000;

/** Keys of a request, far fewer than the server allows: all wait for the one with the most points. */
const KEYS_MAX = 6;

/** Most runs of a request. */
export const SERIES_RUNS_MAX = 2000;

/** Parsing runs for this long before the page gets its turn. */
const TURN_MS = 8;

/** With `afterStep`: only the new points of running runs. */
type SeriesAsked = SeriesQuery & { readonly afterStep?: number };

/** Reads series for charts. */
export const seriesLoader = createBatcher<SeriesAsked, readonly Series[]>({
  keysPerRequest: ({ runIds, buckets }) =>
    Math.min(KEYS_MAX, Math.floor(POINTS_MAX / (buckets * Math.max(1, runIds.length)))),
  read: readBatch,
  empty: [],
  sizeOf: (series) => series.reduce((sum, one) => sum + bytesOf(one), 0),
});

/** Returns the body of a request. */
export function seriesBody(query: SeriesAsked, keys: readonly string[]): Record<string, unknown> {
  const { runIds, x, smoothing, steps, buckets, lineage, afterStep } = query;
  return {
    format: "columns",
    keys,
    run_ids: runIds,
    buckets,
    // Without buckets of the range a series has at most this many points.
    limit: Math.max(1, Math.min(5000, Math.floor(POINTS_MAX / (runIds.length * keys.length)))),
    // Each series has parts of its own range: a shared one would cover all keys, and a short metric next to a long one would have few parts.
    ...(x === "step" ? {} : { x }),
    ...(smoothing === undefined ? {} : { smoothing }),
    ...(steps === undefined ? {} : { start_step: Math.max(0, steps[0]), end_step: Math.max(0, steps[1]), edges: true }),
    ...(lineage === undefined ? {} : { lineage }),
    ...(afterStep === undefined ? {} : { after_step: afterStep }),
  };
}

async function readBatch(
  query: SeriesAsked,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Series[]>> {
  const response = await whileBusy(signal, () =>
    send("/api/metrics/series", { method: "POST", body: seriesBody(query, keys), signal }),
  );
  const byKey = new Map<string, Series[]>(keys.map((key) => [key, []]));
  const add = (sent: readonly SentSeries[]): void => {
    for (const one of sent) if (one.columns["step"]!.length > 0) byKey.get(one.key)?.push(seriesOf(one, query));
  };
  const split = splitSeries();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let turnBegan = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    add(split.push(value));
    if (performance.now() - turnBegan < TURN_MS) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
    turnBegan = performance.now();
  }
  add(split.end());
  return byKey;
}

/** Pauses before a request that the server had no room for is sent again. */
const PAUSES_MS = [500, 1500, 4000, 8000];

/** Statuses that mean "later". 0: no answer. */
const LATER = new Set([0, 429, 502, 503, 504]);

/** Sends a read again, with growing pauses, while the server has no room for it. @throws ApiError when it refuses, or still has none */
export async function whileBusy<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || !LATER.has(error.status)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
      signal.throwIfAborted();
    }
  }
  return read();
}

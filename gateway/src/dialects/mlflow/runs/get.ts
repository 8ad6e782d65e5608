import type { QueryMetricSeriesResponse } from "@tidemark/proto/ingest/v1/ingest";
import type { MetricAggregates, RunSummary } from "@tidemark/proto/runs/v1/runs";
import { RUN_METRIC_KEYS_MAX, SERIES_KEYS_MAX } from "@tidemark/limits";
import { badRequest, isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import type { Json } from "../../../http/json.ts";
import { findInputs } from "../inputs/inputs-json.ts";
import { latestJson, runJson } from "./run-json.ts";

type Found = { readonly summary: RunSummary; readonly isHidden: boolean };

const isMissing = (error: unknown): boolean => isAppError(error) && error.reason === "not_found";

/** Returns a run with a page of its metrics, also one that is deleted; a live one with one call. @throws not_found */
export async function findRun(clients: Clients, runId: string, call: Call, metricCursor = ""): Promise<Found> {
  const request = { runId, metricLimit: RUN_METRIC_KEYS_MAX, metricCursor };
  try {
    return { summary: requireMessage((await clients.runs.getRun(request, call)).run), isHidden: false };
  } catch (error) {
    if (!isMissing(error)) throw error;
    const { run, hidden } = await clients.runs.getRun({ ...request, includeDeleted: true }, call);
    return { summary: requireMessage(run), isHidden: hidden };
  }
}

/** Does a write; of a deleted run it is refused. @throws bad_request for a deleted run, and what the write throws */
export async function writingTo<T>(clients: Clients, runId: string, call: Call, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isMissing(error)) throw error;
    const { isHidden } = await findRun(clients, runId, call);
    throw isHidden ? badRequest("the run is deleted; restore it first", "run_id") : error;
  }
}

/** Returns a whole run. @throws not_found */
export async function readWholeRun(clients: Clients, runId: string, call: Call): Promise<Json> {
  const [{ summary, isHidden }, used] = await Promise.all([
    findRun(clients, runId, call),
    findInputs(clients, runId, call),
  ]);
  const latestOf = (page: MetricAggregates): Promise<Json[]> =>
    latestOfRun(clients, { id: runId, isHidden }, page, call);
  const first = requireMessage(summary.metrics);
  const metrics = [...(await latestOf(first))];
  for (let cursor = first.nextCursor; cursor !== "";) {
    const next = requireMessage((await findRun(clients, runId, call, cursor)).summary.metrics);
    metrics.push(...(await latestOf(next)));
    cursor = next.nextCursor;
  }
  const seen = { displayStatus: summary.runControl?.displayStatus, isHidden };
  return runJson(requireMessage(summary.run), metrics, { ...seen, ...(used === undefined ? {} : { used }) });
}

/** Returns the latest values of a page of metrics of a run. Points of a deleted run are not read. */
export function latestOfRun(
  clients: Clients,
  { id, isHidden }: { readonly id: string; readonly isHidden: boolean },
  metrics: MetricAggregates,
  call: Call,
): Promise<Json[]> {
  return readLatest(
    metrics,
    isHidden ? undefined : (request) => clients.ingestRead.queryMetricSeries({ ...request, runIds: [id] }, call),
  );
}

type ReadSeries = (request: { keys: string[]; limit: number; startStep: number }) => Promise<QueryMetricSeriesResponse>;

/** Returns the latest values of a page of metrics. Only values that are not finite are not among the aggregates; they are rare, and read from their points. */
async function readLatest(metrics: MetricAggregates, readSeries: ReadSeries | undefined): Promise<Json[]> {
  const { keys, count, latestStep, nonFinite, nonFiniteStep } = metrics;
  const asked = keys.flatMap((key, i) => {
    const isNewest = count[i] === 0 || nonFiniteStep[i]! >= latestStep[i]!;
    return (nonFinite[i] ?? 0) > 0 && isNewest ? [{ key, step: nonFiniteStep[i]! }] : [];
  });
  const others = new Map<string, { step: number; value: number }>();
  for (let at = 0; at < asked.length; at += SERIES_KEYS_MAX) {
    const page = asked.slice(at, at + SERIES_KEYS_MAX);
    const startStep = Math.min(...page.map(({ step }) => step));
    const { series } = (await readSeries?.({ keys: page.map(({ key }) => key), limit: POINTS_MAX, startStep })) ?? {
      series: [],
    };
    page.forEach(({ key, step }, i) => {
      const { points, truncated = true } = series[i] ?? {};
      const value = truncated ? undefined : points?.values.at(-1);
      others.set(key, { step, value: value ?? Number.NaN });
    });
  }
  return latestJson(metrics, others);
}

const POINTS_MAX = 5000;

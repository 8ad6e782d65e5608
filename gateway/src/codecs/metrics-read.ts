import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  ListMetricPointsRequestSchema,
  ListMetricPointsResponse,
  MetricSeries,
  QueryMetricSeriesRequestSchema,
  QueryMetricSeriesResponse,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Query, RouteInput, RouteReply } from "../route.ts";
import {
  readLimit,
  readOptionalInteger,
  readOptionalStep,
  readOptionalText,
  readQueryNumber,
  readText,
  readUuidList,
  withFault,
} from "./fields.ts";
import { raw, type RawJson } from "./json.ts";
import { writePoints } from "./metrics-points.ts";

/** Points of an answer when nobody says, and at most (API specification, Limits). */
const limits = { default: 1000, max: 5000 };
/** Most runs of one series request (API specification, Limits). */
const RUNS_MAX = 2000;
const BUCKETS_MAX = 4096;

/** GET /runs/{run_id}/metrics as a message; faults of the query travel in it, because a missing run goes before them. */
export function decodeListPoints({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListMetricPointsRequestSchema> {
  const { value, fault } = withFault(() => readSelection(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault };
}

function readSelection(query: Query) {
  const startStep = readQueryNumber(query, "start_step", { min: 0 });
  const endStep = readQueryNumber(query, "end_step", { min: 0 });
  checkRange(startStep, endStep);
  return { key: readOptionalText(query, "key"), startStep, endStep, limit: readLimit(query, limits) };
}

/** `{"metrics": [point, …], "limit", "truncated"}`. */
export function encodeListPoints(response: ListMetricPointsResponse, input: RouteInput): RouteReply {
  const points = response.keys.map(({ key, points: columns }) => writePoints(key, columns!));
  return {
    body: {
      metrics: raw(`[${points.join(",")}]`),
      limit: readLimit(input.query, limits),
      truncated: response.truncated,
    },
  };
}

/** POST /api/metrics/series as a message. A limit above the largest counts as it. @throws bad_request */
export function decodeQuerySeries({ body }: RouteInput): MessageInitShape<typeof QueryMetricSeriesRequestSchema> {
  const key = readText(body, "key");
  const runIds = readUuidList(body, "run_ids", { itemsMin: 1, itemsMax: RUNS_MAX });
  if (runIds === undefined) throw badRequest("run_ids is required", "run_ids");
  const startStep = readOptionalStep(body, "start_step");
  const endStep = readOptionalStep(body, "end_step");
  checkRange(startStep, endStep);
  return {
    key,
    runIds,
    limit: Math.min(requestedLimit(body), limits.max),
    startStep,
    endStep,
    buckets: requestedBuckets(body),
  };
}

/** One series per requested id, which is given back as it was written, with the bounds that were applied. */
export function encodeQuerySeries(response: QueryMetricSeriesResponse, { body }: RouteInput): RouteReply {
  const runIds = body["run_ids"] as readonly string[];
  const key = readText(body, "key");
  return {
    body: {
      series: raw(`[${response.series.map((series, i) => writeSeries(key, runIds[i]!, series).text).join(",")}]`),
      truncated: response.series.some(({ truncated }) => truncated),
      requested_limit: requestedLimit(body),
      effective_limit: response.effectiveLimit,
      requested_buckets: requestedBuckets(body) ?? null,
      effective_buckets: response.effectiveBuckets ?? null,
      run_count: runIds.length,
      total_point_cap: response.totalPointCap,
    },
  };
}

function writeSeries(key: string, runId: string, { points, truncated, sampled }: MetricSeries): RawJson {
  const metrics = writePoints(key, points!);
  return raw(
    `{"run_id":${JSON.stringify(runId)},"metrics":[${metrics}],"truncated":${truncated},"sampled":${sampled}}`,
  );
}

function requestedLimit(body: RouteInput["body"]): number {
  return readOptionalInteger(body, "limit", { min: 1 }) ?? limits.default;
}

function requestedBuckets(body: RouteInput["body"]): number | undefined {
  return readOptionalInteger(body, "buckets", { min: 1, max: BUCKETS_MAX });
}

function checkRange(startStep: number | undefined, endStep: number | undefined): void {
  if (startStep !== undefined && endStep !== undefined && startStep > endStep) {
    throw badRequest("start_step must not be above end_step", "start_step");
  }
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  ListMetricPointsRequestSchema,
  ListMetricPointsResponse,
  PointColumns,
  QueryMetricSeriesRequestSchema,
  QueryMetricSeriesResponse,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Query, RouteInput, RouteReply } from "../../route.ts";
import {
  readLimit,
  readOptionalInteger,
  readOptionalStep,
  readOptionalText,
  readQueryNumber,
  readText,
  readUuidList,
  withFault,
} from "../fields/index.ts";
import { createJsonBytes, writeJson, type JsonBytes } from "../../http/json.ts";
import { pointsBytesMax, writePoints } from "./write-points.ts";

/** Points of an answer: default and maximum (API specification, Limits). */
const limits = { default: 1000, max: 5000 };
/** Most runs of one series request (API specification, Limits). */
const RUNS_MAX = 2000;
const BUCKETS_MAX = 4096;
/** Bytes of the text around each series of an answer; their ids have 36 characters. */
const AROUND_POINTS_BYTES = 1024;

/** GET /runs/{run_id}/metrics as a message; faults of the query travel in it, because a missing run goes before them. */
export function decodeListPoints({
  params,
  query,
  knownTags,
}: RouteInput): MessageInitShape<typeof ListMetricPointsRequestSchema> {
  const { value, fault } = withFault(() => readSelection(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault, knownTags: [...knownTags] };
}

function readSelection(query: Query) {
  const startStep = readQueryNumber(query, "start_step", { min: 0 });
  const endStep = readQueryNumber(query, "end_step", { min: 0 });
  checkRange(startStep, endStep);
  return { key: readOptionalText(query, "key"), startStep, endStep, limit: readLimit(query, limits) };
}

/** `{"metrics": [point, …], "limit", "truncated"}`. */
export function encodeListPoints(response: ListMetricPointsResponse, input: RouteInput): RouteReply {
  if (response.notModified) return notModified(response.tag);
  const json = createJsonBytes(bytesOf(response.keys));
  json.text('{"metrics":[');
  response.keys.forEach(({ key, points }, i) => {
    if (i > 0) json.text(",");
    addPoints(json, key, points!);
  });
  json.text(`],"limit":${readLimit(input.query, limits)},"truncated":${response.truncated}}`);
  return { body: null, bytes: json.take(), etag: response.tag };
}

/** POST /api/metrics/series as a message. A limit above the largest counts as it. @throws bad_request */
export function decodeQuerySeries({
  body,
  knownTags,
}: RouteInput): MessageInitShape<typeof QueryMetricSeriesRequestSchema> {
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
    knownTags: [...knownTags],
  };
}

/** One series per requested id, which is returned as it was sent, with the bounds that were applied. */
export function encodeQuerySeries(response: QueryMetricSeriesResponse, { body }: RouteInput): RouteReply {
  if (response.notModified) return notModified(response.tag);
  const runIds = body["run_ids"] as readonly string[];
  const key = readText(body, "key");
  const json = createJsonBytes(bytesOf(response.series.map(({ points }) => ({ key, points }))));
  json.text('{"series":[');
  response.series.forEach(({ points, truncated, sampled }, i) => {
    json.text(`${i > 0 ? "," : ""}{"run_id":${JSON.stringify(runIds[i])},"metrics":[`);
    addPoints(json, key, points!);
    json.text(`],"truncated":${truncated},"sampled":${sampled}}`);
  });
  const rest = writeJson({
    truncated: response.series.some(({ truncated }) => truncated),
    requested_limit: requestedLimit(body),
    effective_limit: response.effectiveLimit,
    requested_buckets: requestedBuckets(body) ?? null,
    effective_buckets: response.effectiveBuckets ?? null,
    run_count: runIds.length,
    total_point_cap: response.totalPointCap,
  });
  json.text(`],${rest.slice(1)}`);
  return { body: null, bytes: json.take(), etag: response.tag };
}

/** Returns a bound of the bytes of an answer, so that the buffer never has to grow. */
function bytesOf(series: readonly { readonly key: string; readonly points?: PointColumns | undefined }[]): number {
  return series.reduce(
    (sum, { key, points }) => sum + AROUND_POINTS_BYTES + pointsBytesMax(key, points!),
    AROUND_POINTS_BYTES,
  );
}

function addPoints(json: JsonBytes, key: string, points: PointColumns): void {
  json.write(pointsBytesMax(key, points), (target, at) => writePoints(target, at, key, points));
}

function notModified(etag: string): RouteReply {
  return { body: null, etag, notModified: true };
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

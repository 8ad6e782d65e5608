import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListMetricPointsRequestSchema,
  ListMetricPointsResponse,
  PointColumns,
  QueryMetricSeriesRequestSchema,
  QueryMetricSeriesResponse,
} from "@tidemark/proto/ingest/v1/ingest";
import { SERIES_POINTS } from "@tidemark/limits";
import { createPauses } from "@tidemark/work";
import { createJsonBytes, writeJson, type JsonBytes } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, join, list, object, optional, withDefault, withFault } from "../fields/field.ts";
import { integer, limit, queryStepRange, stepRange } from "../fields/number.ts";
import { text, uuid } from "../fields/text.ts";
import { pointsBytesMax, writePoints } from "./points.ts";

/** What the field of the message can hold; the service applies the limit. */
const UINT32_MAX = 2 ** 32 - 1;

/** Bytes of the text around each series of an answer; their ids have 36 characters. */
const AROUND_POINTS_BYTES = 1024;

/** Query of GET /runs/{run_id}/metrics. */
export const listPointsQuery = join(
  queryStepRange,
  object({ key: optional(text()), limit: described(limit(SERIES_POINTS), "Points of all keys together.") }),
);

/** GET /runs/{run_id}/metrics. Faults of the query travel in the message, because a missing run takes precedence. */
export function decodeListPoints({
  params,
  query,
  knownTags,
}: RouteInput): MessageInitShape<typeof ListMetricPointsRequestSchema> {
  const { value, fault } = withFault(() => listPointsQuery.read(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault, knownTags: [...knownTags] };
}

/** `{"metrics": [point, …], "limit", "truncated"}`. */
export function encodeListPoints(
  response: ListMetricPointsResponse,
  request: ReturnType<typeof decodeListPoints>,
): RouteReply {
  if (response.notModified) return notModified(response.tag);
  const json = createJsonBytes(bytesOf(response.keys));
  json.text('{"metrics":[');
  response.keys.forEach(({ key, points }, i) => {
    if (i > 0) json.text(",");
    addPoints(json, key, points!);
  });
  json.text(`],"limit":${request.limit},"truncated":${response.truncated}}`);
  return { body: null, bytes: json.take(), etag: response.tag };
}

/** Body of POST /api/metrics/series. */
export const querySeriesBody = join(
  join(object({ key: text(), run_ids: list(uuid(), { itemsMin: 1, itemsMax: 2000 }) }), stepRange),
  object({
    limit: described(
      withDefault(integer({ min: 1 }), SERIES_POINTS.default, { default: SERIES_POINTS.default }),
      "Above 5,000 counts as 5,000.",
    ),
    buckets: described(
      optional(integer({ min: 1, max: 4096 })),
      "Samples each series; left aside when start_step or end_step is given.",
    ),
  }),
);

/** The client's request, and the message that passes it to the service. */
export type SeriesRequest = {
  readonly message: MessageInitShape<typeof QueryMetricSeriesRequestSchema>;
  readonly key: string;
  /** As they were sent. */
  readonly runIds: readonly string[];
  readonly limit: number;
  readonly buckets: number | undefined;
};

/** POST /api/metrics/series. @throws bad_request */
export function decodeQuerySeries({ body, knownTags }: RouteInput): SeriesRequest {
  const { key, limit: requested, ...asked } = querySeriesBody.read(body);
  return {
    message: { ...asked, keys: [key], limit: Math.min(requested, UINT32_MAX), knownTags: [...knownTags] },
    key,
    runIds: body["run_ids"] as readonly string[],
    limit: requested,
    buckets: asked.buckets,
  };
}

/** One series per requested id, which is returned as it was sent, with the bounds that were applied. */
export async function encodeQuerySeries(
  response: QueryMetricSeriesResponse,
  request: SeriesRequest,
): Promise<RouteReply> {
  if (response.notModified) return notModified(response.tag);
  const { key, runIds } = request;
  const json = createJsonBytes(bytesOf(response.series.map(({ points }) => ({ key, points }))));
  json.text('{"series":[');
  const pauseIfLong = createPauses();
  for (const [i, { points, truncated, sampled }] of response.series.entries()) {
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
    json.text(`${i > 0 ? "," : ""}{"run_id":${JSON.stringify(runIds[i])},"metrics":[`);
    addPoints(json, key, points!);
    json.text(`],"truncated":${truncated},"sampled":${sampled}}`);
  }
  const rest = writeJson({
    truncated: response.series.some(({ truncated }) => truncated),
    requested_limit: request.limit,
    effective_limit: response.effectiveLimit,
    requested_buckets: request.buckets ?? null,
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

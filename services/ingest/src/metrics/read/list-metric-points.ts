import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Db } from "@tidemark/pg";
import type {
  ListMetricPointsRequest,
  ListMetricPointsRequestSchema,
  ListMetricPointsResponseSchema,
  PointColumnsSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, throwFault, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import type { Points } from "./first-points.rules.ts";
import { readPoints } from "./metric-points.sql.ts";
import { listMetricVersions } from "./metric-series.sql.ts";
import { readSeries } from "./read-series.ts";
import type { PointsReader } from "./points-reader.rules.ts";
import { isKnownTag, readTag } from "./read-tag.rules.ts";

/** IngestReadService.ListMetricPoints. @throws not_found, bad_request */
export function listMetricPointsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListMetricPointsRequestSchema, typeof ListMetricPointsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { key, startStep, endStep, limit, knownTags } = request;
    const tagOf = (version: number) => readTag(["points", runId, key, startStep, endStep, limit], [version]);
    if (knownTags.length > 0) {
      const [version] = await listMetricVersions(db, caller.orgId, [runId]);
      const tag = tagOf(version!);
      if (isKnownTag(tag, knownTags)) return { tag, notModified: true };
    }
    const { keys, truncated, version } = await pointsOf(db, caller.orgId, runId, request);
    return {
      keys: keys.map((found) => ({ key: found.key, points: pointColumns(found.points) })),
      truncated,
      tag: tagOf(version),
    };
  };
}

async function pointsOf(
  db: Db,
  orgId: string,
  runId: string,
  { key, startStep, endStep, limit }: ListMetricPointsRequest,
): Promise<ReturnType<PointsReader["take"]>> {
  const range = { startStep, endStep };
  if (key === undefined) return readPoints(db, { orgId, runId, range }, limit);
  const [run] = await readSeries(db, { orgId, runIds: [runId], keys: [key], range, limit, buckets: undefined });
  const { version, series } = run!;
  const { points, truncated } = series[0]!;
  return { keys: points.steps.length === 0 ? [] : [{ key, points }], truncated, version };
}

/** The message for no points. */
export const noPoints: MessageInitShape<typeof PointColumnsSchema> = {};

/** Returns points as the message for answers. */
export function pointColumns(points: Points): MessageInitShape<typeof PointColumnsSchema> {
  return {
    steps: packed(points.steps),
    values: packed(points.values),
    createdUs: packed(points.createdUs),
    timestampsUs: packed(points.timestampsUs),
  };
}

/** Returns a typed array as a packed field, without a copy: the encoder only counts and indexes the field, though its declaration says array. */
function packed(column: Float64Array): number[] {
  return column as unknown as number[];
}

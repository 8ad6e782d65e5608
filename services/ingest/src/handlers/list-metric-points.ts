import type { Db } from "@tidemark/pg";
import type {
  ListMetricPointsRequest,
  ListMetricPointsRequestSchema,
  ListMetricPointsResponseSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import type { PointsReader } from "../domain/points-reader.ts";
import { isKnownTag, readTag } from "../domain/read-tag.ts";
import type { RunDirectory } from "../runs/run-directory.ts";
import { listMetricVersions } from "../store/list-metric-versions.ts";
import { readPoints } from "../store/read-points.ts";
import { readSeries } from "../store/read-series.ts";
import { pointColumns } from "./point-columns.ts";

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
  const [series] = await readSeries(db, {
    orgId,
    runIds: [runId],
    key,
    range,
    pointsMax: limit + 1,
    buckets: undefined,
  });
  const { points, truncated, version } = series!;
  return { keys: points.steps.length === 0 ? [] : [{ key, points }], truncated, version };
}

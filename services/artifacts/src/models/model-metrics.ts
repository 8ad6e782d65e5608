import { badRequest, notFound } from "@tidemark/errors";
import { DATASET_BYTES, MODELS } from "@tidemark/limits";
import type { ModelPoint } from "@tidemark/proto/artifacts/v1/models";
import { callerOf, canSee, isUuid, pathId, refuseUnpaid } from "@tidemark/requests";
import type { ArtifactsDeps, ModelsHandlers } from "../deps.ts";
import { requireShort } from "../query/text-map.rules.ts";
import { countMetricsMost, type ModelMetricRow, putModelMetrics } from "./model-metrics.sql.ts";
import { lockModel } from "./models.sql.ts";
import { MODEL } from "./require-model.ts";

/** ModelsService.LogModelMetrics: all or none is stored. @throws not_found, bad_request, payment_required */
export function logModelMetrics(deps: Pick<ArtifactsDeps, "db" | "runs">): ModelsHandlers["logModelMetrics"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    const { points } = request;
    if (points.length < 1 || points.length > MODELS.pointsMax) {
      throw badRequest(`points must have 1 to ${MODELS.pointsMax} items`, "points");
    }
    const newest = newestOf(points.map((point) => readPoint(point, runId)));
    const modelIds = [...new Set(newest.map(({ modelId }) => modelId))].toSorted();
    refuseUnpaid(caller);
    await deps.db.withTenant(
      orgId,
      async (tx) => {
        // In the order of their ids, so that two requests do not wait for each other.
        for (const id of modelIds) {
          const model = await lockModel(tx, orgId, id);
          if (model === undefined || !canSee(caller, model)) throw notFound(MODEL);
        }
        await putModelMetrics(tx, orgId, newest);
        if ((await countMetricsMost(tx, orgId, modelIds)) > MODELS.metricsMax) {
          throw badRequest(`a model has at most ${MODELS.metricsMax} metrics`, "points");
        }
      },
      { plans: "walks" },
    );
    return {};
  };
}

function readPoint({ modelId: sentId, metric }: ModelPoint, runId: string): ModelMetricRow {
  const modelId = sentId.toLowerCase();
  if (!isUuid(modelId)) throw notFound(MODEL);
  if (metric === undefined) throw badRequest("a metric is required", "points");
  const { key, value, datasetName, datasetDigest } = metric;
  requireShort(key, 1024, "key", 1);
  requireShort(datasetName, DATASET_BYTES.name, "dataset_name");
  requireShort(datasetDigest, DATASET_BYTES.digest, "dataset_digest");
  const [step, timeMs] = [Number(metric.step), Number(metric.timeMs)];
  for (const [name, number] of Object.entries({ step, time_ms: timeMs })) {
    if (number < 0 || !Number.isSafeInteger(number)) throw badRequest(`${name} must be from 0 to 2^53 - 1`, name);
  }
  return { modelId, key, runId, datasetName, datasetDigest, step, timeMs, value };
}

/** Returns the newest of the points of each metric. */
function newestOf(points: readonly ModelMetricRow[]): ModelMetricRow[] {
  const newest = new Map<string, ModelMetricRow>();
  for (const point of points) {
    const { modelId, key, datasetName, datasetDigest } = point;
    const identity = JSON.stringify([modelId, key, datasetName, datasetDigest]);
    const other = newest.get(identity);
    if (other === undefined || isNewer(point, other)) newest.set(identity, point);
  }
  return [...newest.values()];
}

/** As PostgreSQL compares: NaN is above all numbers. */
function isNewer(a: ModelMetricRow, b: ModelMetricRow): boolean {
  if (a.step !== b.step) return a.step > b.step;
  if (a.timeMs !== b.timeMs) return a.timeMs > b.timeMs;
  return !Number.isNaN(b.value) && (Number.isNaN(a.value) || a.value > b.value);
}

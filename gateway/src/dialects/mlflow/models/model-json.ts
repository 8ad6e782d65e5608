import type { Model } from "@tidemark/proto/artifacts/v1/models";
import type { Json } from "../../../http/json.ts";
import { pairs } from "../documents.ts";
import { mlflowRunId } from "../ids.ts";
import { doubleJson } from "../runs/run-json.ts";
import { mlflowModelId, modelArtifactUri } from "./ids.ts";

/** Statuses of logged models as MLflow writes them, by those of the service. */
export const modelStatuses: Readonly<Record<string, string>> = {
  pending: "LOGGED_MODEL_PENDING",
  ready: "LOGGED_MODEL_READY",
  failed: "LOGGED_MODEL_UPLOAD_FAILED",
};

/** A logged model of an experiment. */
export function modelJson(model: Model, experimentId: string): Json {
  const id = mlflowModelId(model.id);
  return {
    info: {
      model_id: id,
      experiment_id: experimentId,
      name: model.name,
      artifact_uri: modelArtifactUri(experimentId, model.id),
      status: modelStatuses[model.status]!,
      creation_timestamp_ms: Date.parse(model.createdAt),
      last_updated_timestamp_ms: Date.parse(model.updatedAt),
      model_type: model.type,
      source_run_id: model.sourceRunId === undefined ? "" : mlflowRunId(model.sourceRunId),
      tags: pairs(Object.entries(model.tags)),
    },
    data: {
      params: pairs(Object.entries(model.params)),
      metrics: model.metrics.map(({ key, value, timeMs, step, runId, datasetName, datasetDigest }) => ({
        key,
        value: doubleJson(value),
        timestamp: Number(timeMs),
        step: Number(step),
        model_id: id,
        run_id: mlflowRunId(runId),
        dataset_name: datasetName,
        dataset_digest: datasetDigest,
      })),
    },
  };
}

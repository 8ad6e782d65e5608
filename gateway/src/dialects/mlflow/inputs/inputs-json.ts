import { isAppError } from "@tidemark/errors";
import type { RunInputs } from "@tidemark/proto/runs/v1/inputs";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../../clients.ts";
import type { Json } from "../../../http/json.ts";
import { pairs } from "../documents.ts";
import { mlflowModelId } from "../models/ids.ts";

/** The members `inputs` and `outputs` of a run; lists without items are left out. */
export function inputsJson({ datasets, modelInputs, modelOutputs }: RunInputs): { inputs: Json; outputs?: Json } {
  const datasetInputs = datasets.map(({ name, digest, sourceType, source, schema, profile, tags }) => ({
    tags: pairs(Object.entries(tags)),
    dataset: { name, digest, source_type: sourceType, source, schema, profile },
  }));
  const used = modelInputs.map(({ modelId }) => ({ model_id: mlflowModelId(modelId) }));
  const made = modelOutputs.map(({ modelId, step }) => ({ model_id: mlflowModelId(modelId), step: Number(step) }));
  return {
    inputs: {
      ...(datasetInputs.length === 0 ? {} : { dataset_inputs: datasetInputs }),
      ...(used.length === 0 ? {} : { model_inputs: used }),
    },
    ...(made.length === 0 ? {} : { outputs: { model_outputs: made } }),
  };
}

/** Returns what a run used and made; nothing of a run that is deleted or missing. */
export async function findInputs(clients: Clients, runId: string, call: Call): Promise<RunInputs | undefined> {
  try {
    return (await clients.runs.listRunInputs({ runIds: [runId] }, call)).runs[0];
  } catch (error) {
    if (isAppError(error) && error.reason === "not_found") return undefined;
    throw error;
  }
}

import { isAppError } from "@tidemark/errors";
import type { RunInputs } from "@tidemark/proto/runs/v1/inputs";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../../clients.ts";
import type { Json } from "../../../http/json.ts";
import { pairs } from "../documents.ts";
import { mlflowModelId } from "../models/ids.ts";

/** The members `inputs` and `outputs` of a run. */
export function inputsJson({ datasets: used, modelInputs, modelOutputs }: RunInputs): { inputs: Json; outputs: Json } {
  return {
    inputs: {
      dataset_inputs: used.map(({ name, digest, sourceType, source, schema, profile, tags }) => ({
        tags: pairs(Object.entries(tags)),
        dataset: { name, digest, source_type: sourceType, source, schema, profile },
      })),
      model_inputs: modelInputs.map(({ modelId }) => ({ model_id: mlflowModelId(modelId) })),
    },
    outputs: {
      model_outputs: modelOutputs.map(({ modelId, step: at }) => ({
        model_id: mlflowModelId(modelId),
        step: Number(at),
      })),
    },
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

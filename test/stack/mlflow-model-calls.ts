import type { DialectCall } from "./dialect-call.ts";

const ofModel = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: ({ mlflowModel }) => ({ model_id: mlflowModel, ...fields }),
  namesRows: true,
});
const ofRegistered = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: ({ mlflowRegistered }) => ({ name: mlflowRegistered, ...fields }),
  namesRows: true,
});
const ofVersion = (fields: Readonly<Record<string, unknown>> = {}): DialectCall =>
  ofRegistered({ version: "1", ...fields });
const ofNothing = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: () => fields,
  namesRows: false,
});
const ofRun = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: ({ mlflowRun }) => ({ run_id: mlflowRun, ...fields }),
  namesRows: true,
});

const PREFIX = "/api/2.0/mlflow";

/** A request of every route of MLflow for logged models, inputs and outputs, and the registry. */
export const mlflowModelCalls: Readonly<Record<string, DialectCall>> = {
  [`POST ${PREFIX}/runs/log-inputs`]: ofRun({ datasets: [{ dataset: { name: "a", digest: "b" } }] }),
  [`POST ${PREFIX}/runs/outputs`]: ofRun(),
  [`POST ${PREFIX}/runs/log-model`]: ofRun({ model_json: "{}" }),
  [`POST ${PREFIX}/logged-models`]: {
    fields: ({ mlflowExperiment }) => ({ experiment_id: mlflowExperiment }),
    namesRows: true,
  },
  [`POST ${PREFIX}/logged-models/search`]: {
    fields: ({ mlflowExperiment }) => ({ experiment_ids: [mlflowExperiment] }),
    namesRows: false,
  },
  [`GET ${PREFIX}/logged-models/{model_id}`]: ofModel(),
  [`PATCH ${PREFIX}/logged-models/{model_id}`]: ofModel({ status: "LOGGED_MODEL_READY" }),
  [`DELETE ${PREFIX}/logged-models/{model_id}`]: ofModel(),
  [`PATCH ${PREFIX}/logged-models/{model_id}/tags`]: ofModel({ tags: [{ key: "a", value: "b" }] }),
  [`DELETE ${PREFIX}/logged-models/{model_id}/tags/{key}`]: ofModel({ key: "a" }),
  [`POST ${PREFIX}/logged-models/{model_id}/params`]: ofModel({ params: [{ key: "a", value: "b" }] }),
  [`POST ${PREFIX}/registered-models/create`]: ofNothing({ name: "a name of its own" }),
  [`GET ${PREFIX}/registered-models/get`]: ofRegistered(),
  [`POST ${PREFIX}/registered-models/rename`]: ofRegistered({ new_name: "x" }),
  [`PATCH ${PREFIX}/registered-models/update`]: ofRegistered({ description: "x" }),
  [`DELETE ${PREFIX}/registered-models/delete`]: ofRegistered(),
  [`GET ${PREFIX}/registered-models/search`]: ofNothing(),
  [`POST ${PREFIX}/registered-models/get-latest-versions`]: ofRegistered(),
  [`GET ${PREFIX}/registered-models/get-latest-versions`]: ofRegistered(),
  [`POST ${PREFIX}/registered-models/set-tag`]: ofRegistered({ key: "a", value: "b" }),
  [`DELETE ${PREFIX}/registered-models/delete-tag`]: ofRegistered({ key: "a" }),
  [`POST ${PREFIX}/registered-models/alias`]: ofVersion({ alias: "a" }),
  [`GET ${PREFIX}/registered-models/alias`]: ofRegistered({ alias: "a" }),
  [`DELETE ${PREFIX}/registered-models/alias`]: ofRegistered({ alias: "a" }),
  [`POST ${PREFIX}/model-versions/create`]: ofRegistered({ source: "s" }),
  [`GET ${PREFIX}/model-versions/get`]: ofVersion(),
  [`GET ${PREFIX}/model-versions/get-download-uri`]: ofVersion(),
  [`PATCH ${PREFIX}/model-versions/update`]: ofVersion({ description: "x" }),
  [`DELETE ${PREFIX}/model-versions/delete`]: ofVersion(),
  [`POST ${PREFIX}/model-versions/transition-stage`]: ofVersion({ stage: "Staging" }),
  [`GET ${PREFIX}/model-versions/search`]: ofNothing(),
  [`POST ${PREFIX}/model-versions/set-tag`]: ofVersion({ key: "a", value: "b" }),
  [`DELETE ${PREFIX}/model-versions/delete-tag`]: ofVersion({ key: "a" }),
};

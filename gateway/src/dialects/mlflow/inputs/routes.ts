import { badRequest } from "@tidemark/errors";
import { object, withDefault, isObject } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import type { Route } from "../../../route.ts";
import { anyText, messages, step, tag } from "../fields.ts";
import { readRunId } from "../ids.ts";
import { readModelId } from "../models/ids.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { findRun, writingTo } from "../runs/get.ts";
import { mlflowOf } from "../runs/run-json.ts";
import { tagsOf } from "../runs/tags.ts";
import { runWriter } from "../runs/write.ts";

const text = withDefault(anyText(), "");
const datasetFields = object({
  name: anyText(),
  digest: anyText(),
  source_type: text,
  source: text,
  schema: text,
  profile: text,
});

/** Inputs and outputs of one request. */
const TOGETHER_MAX = 100;

const datasets = messages(TOGETHER_MAX, (item) => {
  const { dataset } = item;
  if (!isObject(dataset)) throw badRequest("dataset is required", "datasets");
  const tags = messages(TOGETHER_MAX, tag.read).check(item["tags"] ?? [], "tags");
  return { ...datasetFields.read(dataset), tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])) };
});
const modelIds = messages(TOGETHER_MAX, (item) => readModelId(item["model_id"]));
const outputs = messages(TOGETHER_MAX, (item) => ({
  modelId: readModelId(item["model_id"]),
  step: BigInt(step.check(item["step"] ?? 0, "step")),
}));

/** POST runs/log-inputs. */
const logInputs: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const runId = readRunId(body);
  const asked = object({ datasets, models: modelIds }).read(body);
  const request = { runId, datasets: asked.datasets, modelIds: asked.models };
  await writingTo(clients, runId, call, async () => void (await clients.runs.addRunInputs(request, call)));
  return { body: {}, heartbeatRunIds: [runId] };
};

/** POST runs/outputs. */
const logOutputs: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const runId = readRunId(body);
  const { models } = object({ models: outputs }).read(body);
  await writingTo(clients, runId, call, async () => void (await clients.runs.addRunOutputs({ runId, models }, call)));
  return { body: {}, heartbeatRunIds: [runId] };
};

const HISTORY_TAG = "mlflow.log-model.history";

/** POST runs/log-model, of clients before 3: adds a description to the list of those that the run has. */
const logModel: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const runId = readRunId(body);
  const added = parse(anyText().check(body["model_json"] ?? "", "model_json"));
  if (!isObject(added)) throw badRequest("model_json must be a JSON object", "model_json");
  const { summary, isHidden } = await findRun(clients, runId, call);
  if (isHidden) throw badRequest("the run is deleted; restore it first", "run_id");
  const run = requireMessage(summary.run);
  const before = parse(tagsOf(run, mlflowOf(run)).get(HISTORY_TAG) ?? "[]");
  const history = [...(Array.isArray(before) ? (before as unknown[]) : []), added];
  await runWriter(runId, { tags: new Map([[HISTORY_TAG, JSON.stringify(history)]]) })(clients, call);
  return { body: {}, heartbeatRunIds: [runId] };
};

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

const PREFIX = "/api/2.0/mlflow/runs";

/** What runs used and made. */
export const inputRoutes: readonly Route[] = [
  mlflowRoute({ method: "POST", path: `${PREFIX}/log-inputs`, use: "write", isBatch: true, handle: logInputs }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/outputs`, use: "write", handle: logOutputs }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/log-model`, use: "write", handle: logModel }),
];

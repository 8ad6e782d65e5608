import { randomBytes } from "node:crypto";
import { badRequest } from "@tidemark/errors";
import type { Model } from "@tidemark/proto/artifacts/v1/models";
import type { Call } from "@tidemark/rpc";
import { object, withDefault } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import type { Route, RouteReply } from "../../../route.ts";
import { experimentToWrite } from "../experiments/find.ts";
import { anyText, key, messages, param, tag, textOrNone } from "../fields.ts";
import { experimentIdOf, readRunId } from "../ids.ts";
import { MLFLOW_LIMITS } from "../limits.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { readModelId } from "./ids.ts";
import { modelJson, modelStatuses } from "./model-json.ts";
import { searchModels } from "./search.ts";

const done: RouteReply = { body: {} };

const params = messages(MLFLOW_LIMITS.batch.params, param.read);
const tags = messages(MLFLOW_LIMITS.batch.tags, tag.read);

const createFields = object({
  name: textOrNone(),
  model_type: withDefault(anyText(), ""),
  source_run_id: textOrNone(),
  params,
  tags,
});

const NAME_CHARACTERS_MAX = 500;

/** Reads the name of a logged model, which becomes a part of addresses. @throws bad_request */
function requireModelName(name: string): string {
  if (/[/:.%"']/.test(name)) throw badRequest(`name must not contain any of / : . % " '`, "name");
  if (name.length > NAME_CHARACTERS_MAX) {
    throw badRequest(`name must have at most ${NAME_CHARACTERS_MAX} characters`, "name");
  }
  return name;
}

/** Returns params by key. @throws bad_request for a key that comes twice */
function paramsByKey(sent: readonly { readonly key: string; readonly value: string }[]): Record<string, string> {
  const byKey = new Map(sent.map((item) => [item.key, item.value]));
  if (byKey.size < sent.length) throw badRequest("a key must not come twice", "params");
  return Object.fromEntries(byKey);
}

const tagsByKey = (sent: readonly { readonly key: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(sent.map((item) => [item.key, item.value]));

/** POST logged-models. A model without a name gets one. */
const createModel: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const asked = createFields.read(body);
  const name = requireModelName(asked.name ?? `model-${randomBytes(4).toString("hex")}`);
  const sourceRunId = asked.sourceRunId === undefined ? undefined : readRunId({ run_id: asked.sourceRunId });
  const wanted = { name, type: asked.modelType, params: paramsByKey(asked.params), tags: tagsByKey(asked.tags) };
  const project = await experimentToWrite(clients, body["experiment_id"], call);
  const { model } = await clients.models.createModel(
    { projectId: project.id, ...wanted, ...(sourceRunId === undefined ? {} : { sourceRunId }) },
    call,
  );
  return { body: { model: modelJson(requireMessage(model), experimentIdOf(project.name, project.number)) } };
};

/** Returns a model as JSON, after it has looked up its experiment. */
async function replyWith(clients: Clients, model: Model | undefined, call: Call): Promise<RouteReply> {
  const found = requireMessage(model);
  return { body: { model: modelJson(found, await experimentOfProject(clients, found.projectId, call)) } };
}

/** Returns the id of the experiment of a project. @throws not_found */
export async function experimentOfProject(clients: Clients, projectId: string, call: Call): Promise<string> {
  const { project } = await clients.runs.getProject({ projectId }, call);
  const { name, number } = requireMessage(project);
  return experimentIdOf(name, number);
}

const modelIdOf = ({ params: path }: Parameters<MlflowRoute["handle"]>[0]): string => readModelId(path["model_id"]);

const getModel: MlflowRoute["handle"] = async (input, clients, call) => {
  const { model } = await clients.models.getModel({ modelId: modelIdOf(input) }, call);
  return replyWith(clients, model, call);
};

/** PATCH logged-models/{id}: ends the upload of a model. */
const finalizeModel: MlflowRoute["handle"] = async (input, clients, call) => {
  const modelId = modelIdOf(input);
  const [status] = Object.entries(modelStatuses).find(([, word]) => word === input.body["status"]) ?? [];
  if (status === undefined || status === "pending") {
    throw badRequest("status must be LOGGED_MODEL_READY or LOGGED_MODEL_UPLOAD_FAILED", "status");
  }
  const { model } = await clients.models.updateModel({ modelId, status }, call);
  return replyWith(clients, model, call);
};

const deleteModel: MlflowRoute["handle"] = async (input, clients, call) => {
  await clients.models.deleteModel({ modelId: modelIdOf(input) }, call);
  return done;
};

const setTags: MlflowRoute["handle"] = async (input, clients, call) => {
  const setOf = tagsByKey(object({ tags }).read(input.body).tags);
  await clients.models.updateModel({ modelId: modelIdOf(input), setTags: setOf }, call);
  return done;
};

const deleteTag: MlflowRoute["handle"] = async (input, clients, call) => {
  const removedTags = [key.check(input.params["key"] ?? "", "key")];
  await clients.models.updateModel({ modelId: modelIdOf(input), removedTags }, call);
  return done;
};

const addParams: MlflowRoute["handle"] = async (input, clients, call) => {
  const added = paramsByKey(object({ params }).read(input.body).params);
  await clients.models.updateModel({ modelId: modelIdOf(input), params: added }, call);
  return done;
};

const PREFIX = "/api/2.0/mlflow/logged-models";
const ONE = `${PREFIX}/{model_id}`;

/** Logged models. */
export const modelRoutes: readonly Route[] = [
  mlflowRoute({ method: "POST", path: PREFIX, use: "write", handle: createModel }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/search`, use: "read", handle: searchModels }),
  mlflowRoute({ method: "GET", path: ONE, use: "read", handle: getModel }),
  mlflowRoute({ method: "PATCH", path: ONE, use: "write", handle: finalizeModel }),
  mlflowRoute({ method: "DELETE", path: ONE, use: "control", handle: deleteModel }),
  mlflowRoute({ method: "PATCH", path: `${ONE}/tags`, use: "write", handle: setTags }),
  mlflowRoute({ method: "DELETE", path: `${ONE}/tags/{key}`, use: "write", handle: deleteTag }),
  mlflowRoute({ method: "POST", path: `${ONE}/params`, use: "write", handle: addParams }),
];

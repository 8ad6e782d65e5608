import { badRequest } from "@tidemark/errors";
import type { RegisteredVersion } from "@tidemark/proto/artifacts/v1/registry";
import type { Call } from "@tidemark/rpc";
import { object, withDefault } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import type { Route, RouteReply } from "../../../route.ts";
import { anyText, key, messages, textOrNone } from "../fields.ts";
import { readRunId, runUuid } from "../ids.ts";
import { modelArtifactUri, readModelId } from "../models/ids.ts";
import { experimentOfProject } from "../models/routes.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { registryTag, requireNumber, requireText, TAGS_MAX, tagsByKey } from "./fields.ts";
import { stageWords, versionJson } from "./registry-json.ts";
import { searchVersions } from "./search.ts";
import { readSource } from "./source.rules.ts";

const done: RouteReply = { body: {} };

const text = withDefault(anyText(), "");
const createFields = object({
  run_id: textOrNone(),
  model_id: textOrNone(),
  run_link: text,
  description: text,
  tags: messages(TAGS_MAX, registryTag.read),
});

/** POST model-versions/create. */
const createVersion: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { runId: sentRun, modelId: sentModel, tags, ...texts } = createFields.read(body);
  const source = requireText(body, "source");
  const place = readSource(source);
  const runId = sentRun === undefined ? undefined : readRunId({ run_id: sentRun });
  if (place.kind === "run" && runUuid(place.runId) !== runId) {
    throw badRequest("source must be in the run of run_id", "source");
  }
  if (place.kind === "model" && sentModel !== undefined && sentModel !== place.modelId) {
    throw badRequest("source must be the model of model_id", "source");
  }
  const modelText = sentModel ?? (place.kind === "model" ? place.modelId : undefined);
  const modelId = modelText === undefined ? undefined : readModelId(modelText);
  const isKept = place.kind === "model" || (place.kind === "run" && modelId === undefined);
  const { version } = await clients.registry.createRegisteredVersion(
    {
      name: requireText(body, "name"),
      source,
      ...texts,
      tags: tagsByKey(tags),
      ...(runId === undefined ? {} : { runId }),
      ...(modelId === undefined ? {} : { modelId }),
      ...(isKept ? { folder: place.folder } : {}),
    },
    call,
  );
  return { body: { model_version: versionJson(requireMessage(version)) } };
};

/** Returns the version that a request names. @throws bad_request, not_found */
async function findVersion(clients: Clients, name: string, number: number, call: Call): Promise<RegisteredVersion> {
  const { version } = await clients.registry.getRegisteredVersion(
    { name, which: { case: "number", value: number } },
    call,
  );
  return requireMessage(version);
}

const getVersion: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const version = await findVersion(clients, requireText(body, "name"), requireNumber(body), call);
  return { body: { model_version: versionJson(version) } };
};

/** Sources that lead from a version to another. */
const HOPS_MAX = 10;

/** GET model-versions/get-download-uri: sources that name a logged model or another version are followed to the files. */
const getDownloadUri: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  let version = await findVersion(clients, requireText(body, "name"), requireNumber(body), call);
  for (let hops = 0; ; hops += 1) {
    const place = readSource(version.source);
    if (place.kind === "version" && hops < HOPS_MAX) {
      version = await findVersion(clients, place.name, place.number, call);
      continue;
    }
    if (!version.source.startsWith("models:/m-") || place.kind !== "model")
      return { body: { artifact_uri: version.source } };
    const uri = await uriOfModel(clients, place.modelId, call);
    return { body: { artifact_uri: place.folder === "" ? uri : `${uri}/${place.folder}` } };
  }
};

async function uriOfModel(clients: Clients, sentId: string, call: Call): Promise<string> {
  const { model } = await clients.models.getModel({ modelId: readModelId(sentId) }, call);
  const { id, projectId } = requireMessage(model);
  return modelArtifactUri(await experimentOfProject(clients, projectId, call), id);
}

const updateVersion: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const description = textOrNone().check(body["description"] ?? "", "description") ?? "";
  const change = { name: requireText(body, "name"), number: requireNumber(body), description };
  const { version } = await clients.registry.updateRegisteredVersion(change, call);
  return { body: { model_version: versionJson(requireMessage(version)) } };
};

const deleteVersion: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const named = { name: requireText(body, "name"), number: requireNumber(body) };
  await clients.registry.deleteRegisteredVersion(named, call);
  return done;
};

/** Reads a stage, in any case. @throws bad_request */
export function readStage(sent: string): string {
  const stage = sent.toLowerCase();
  if (Object.hasOwn(stageWords, stage)) return stage;
  throw badRequest(`stage must be one of ${Object.values(stageWords).join(", ")}`, "stage");
}

const transitionStage: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const stage = readStage(requireText(body, "stage"));
  const archives = body["archive_existing_versions"] === true || body["archive_existing_versions"] === "true";
  if (archives && stage !== "staging" && stage !== "production") {
    throw badRequest("only versions in Staging or Production can be archived", "archive_existing_versions");
  }
  const change = { name: requireText(body, "name"), number: requireNumber(body), stage };
  const { version } = await clients.registry.updateRegisteredVersion(
    { ...change, ...(archives ? { stageOfOthers: "archived" } : {}) },
    call,
  );
  return { body: { model_version: versionJson(requireMessage(version)) } };
};

const setTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const tag = registryTag.read(body);
  const named = { name: requireText(body, "name"), number: requireNumber(body) };
  await clients.registry.updateRegisteredVersion({ ...named, setTags: { [tag.key]: tag.value } }, call);
  return done;
};

const deleteTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const named = { name: requireText(body, "name"), number: requireNumber(body) };
  const removedTags = [key.check(body["key"] ?? "", "key")];
  await clients.registry.updateRegisteredVersion({ ...named, removedTags }, call);
  return done;
};

const PREFIX = "/api/2.0/mlflow/model-versions";

/** Versions of registered models. */
export const versionRoutes: readonly Route[] = [
  mlflowRoute({ method: "POST", path: `${PREFIX}/create`, use: "write", handle: createVersion }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get`, use: "read", handle: getVersion }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get-download-uri`, use: "read", handle: getDownloadUri }),
  mlflowRoute({ method: "PATCH", path: `${PREFIX}/update`, use: "write", handle: updateVersion }),
  mlflowRoute({ method: "DELETE", path: `${PREFIX}/delete`, use: "control", handle: deleteVersion }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/transition-stage`, use: "write", handle: transitionStage }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/search`, use: "read", handle: searchVersions }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/set-tag`, use: "write", handle: setTag }),
  mlflowRoute({ method: "DELETE", path: `${PREFIX}/delete-tag`, use: "write", handle: deleteTag }),
];

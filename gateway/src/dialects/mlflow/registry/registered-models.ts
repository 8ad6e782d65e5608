import { badRequest } from "@tidemark/errors";
import { object, withDefault } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import type { Route, RouteReply } from "../../../route.ts";
import { anyText, key, messages, textOrNone } from "../fields.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { registryTag, requireNumber, requireText, TAGS_MAX, tagsByKey } from "./fields.ts";
import { registeredJson, versionJson } from "./registry-json.ts";
import { searchRegistered } from "./search.ts";
import { readStage } from "./versions.ts";
import { readTexts } from "../pages.ts";

const done: RouteReply = { body: {} };

const text = withDefault(anyText(), "");
const createFields = object({ description: text, tags: messages(TAGS_MAX, registryTag.read) });

const createRegistered: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { description, tags } = createFields.read(body);
  const wanted = { name: requireText(body, "name"), description, tags: tagsByKey(tags) };
  const { model } = await clients.registry.createRegisteredModel(wanted, call);
  return { body: { registered_model: registeredJson(requireMessage(model)) } };
};

const getRegistered: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { model } = await clients.registry.getRegisteredModel({ name: requireText(body, "name") }, call);
  return { body: { registered_model: registeredJson(requireMessage(model)) } };
};

const renameRegistered: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const names = { name: requireText(body, "name"), newName: requireText(body, "new_name") };
  const { model } = await clients.registry.updateRegisteredModel(names, call);
  return { body: { registered_model: registeredJson(requireMessage(model)) } };
};

const updateRegistered: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const description = textOrNone().check(body["description"] ?? "", "description") ?? "";
  const { model } = await clients.registry.updateRegisteredModel(
    { name: requireText(body, "name"), description },
    call,
  );
  return { body: { registered_model: registeredJson(requireMessage(model)) } };
};

const deleteRegistered: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  await clients.registry.deleteRegisteredModel({ name: requireText(body, "name") }, call);
  return done;
};

/** The version with the highest number of each stage, or of some. */
const getLatest: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const stages = readTexts(body["stages"], "stages").map(readStage);
  const { model } = await clients.registry.getRegisteredModel({ name: requireText(body, "name") }, call);
  const versions = requireMessage(model).latestVersions.filter(
    ({ stage }) => stages.length === 0 || stages.includes(stage),
  );
  return { body: versions.length === 0 ? {} : { model_versions: versions.map(versionJson) } };
};

const setTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const tag = registryTag.read(body);
  const change = { name: requireText(body, "name"), setTags: { [tag.key]: tag.value } };
  await clients.registry.updateRegisteredModel(change, call);
  return done;
};

const deleteTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const removedTags = [key.check(body["key"] ?? "", "key")];
  await clients.registry.updateRegisteredModel({ name: requireText(body, "name"), removedTags }, call);
  return done;
};

const setAlias: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const alias = { name: requireText(body, "name"), alias: requireText(body, "alias"), number: requireNumber(body) };
  await clients.registry.setRegisteredAlias(alias, call);
  return done;
};

const deleteAlias: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  await clients.registry.setRegisteredAlias(
    { name: requireText(body, "name"), alias: requireText(body, "alias") },
    call,
  );
  return done;
};

/** An alias that does not exist is 400: clients ask again after 404. */
const getAlias: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const alias = requireText(body, "alias");
  const asked = { name: requireText(body, "name"), which: { case: "alias" as const, value: alias } };
  const { version } = await clients.registry.getRegisteredVersion(asked, call);
  if (version === undefined) throw badRequest(`the registered model has no alias ${alias}`, "alias");
  return { body: { model_version: versionJson(version) } };
};

const PREFIX = "/api/2.0/mlflow/registered-models";

/** Registered models and their aliases. */
export const registeredModelRoutes: readonly Route[] = [
  mlflowRoute({ method: "POST", path: `${PREFIX}/create`, use: "write", handle: createRegistered }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get`, use: "read", handle: getRegistered }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/rename`, use: "write", handle: renameRegistered }),
  mlflowRoute({ method: "PATCH", path: `${PREFIX}/update`, use: "write", handle: updateRegistered }),
  mlflowRoute({ method: "DELETE", path: `${PREFIX}/delete`, use: "control", handle: deleteRegistered }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/search`, use: "read", handle: searchRegistered }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/get-latest-versions`, use: "read", handle: getLatest }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get-latest-versions`, use: "read", handle: getLatest }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/set-tag`, use: "write", handle: setTag }),
  mlflowRoute({ method: "DELETE", path: `${PREFIX}/delete-tag`, use: "write", handle: deleteTag }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/alias`, use: "write", handle: setAlias }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/alias`, use: "read", handle: getAlias }),
  mlflowRoute({ method: "DELETE", path: `${PREFIX}/alias`, use: "write", handle: deleteAlias }),
];

import { object, withDefault } from "../../../api/fields/field.ts";
import { anyText } from "../fields.ts";
import { type FilterForm, readFilter, readOrderBy } from "../filter.rules.ts";
import { runUuid } from "../ids.ts";
import { conditionOf, maxResults, orderOf, pageToken, readTexts, type ServiceNames } from "../pages.ts";
import type { MlflowRoute } from "../route.ts";
import { registeredJson, versionJson } from "./registry-json.ts";

/** Prompts are registered models with this tag. A model without it is none. */
const PROMPT_TAG = "mlflow.prompt.is_prompt";

const modelForm: FilterForm = {
  attributes: { name: "text", last_updated_timestamp: "number", creation_timestamp: "number" },
  aliases: { timestamp: "last_updated_timestamp" },
  kinds: ["tag"],
  sorted: ["name", "last_updated_timestamp", "creation_timestamp"],
};

const modelNames: ServiceNames = {
  fields: { name: "name", last_updated_timestamp: "updated_at", creation_timestamp: "created_at" },
};

const versionForm: FilterForm = {
  attributes: {
    name: "text",
    run_id: "listed",
    source_path: "text",
    version_number: "number",
    creation_timestamp: "number",
    last_updated_timestamp: "number",
  },
  kinds: ["tag"],
  sorted: ["name", "version_number", "creation_timestamp", "last_updated_timestamp"],
};

const versionNames: ServiceNames = {
  fields: {
    name: "name",
    run_id: "run_id",
    source_path: "source",
    version_number: "number",
    creation_timestamp: "created_at",
    last_updated_timestamp: "updated_at",
  },
  textOf: (field, text) => (field === "run_id" ? (runUuid(text) ?? text) : text),
};

const filter = withDefault(anyText(), "");
const modelFields = object({ filter, max_results: maxResults(100, 1000), page_token: pageToken });
const versionFields = object({ filter, max_results: maxResults(10_000, 200_000), page_token: pageToken });

type Body = Parameters<MlflowRoute["handle"]>[0]["body"];

function readSearch(body: Body, text: string, form: FilterForm, names: ServiceNames) {
  const conditions = readFilter(text, form).map((clause) =>
    conditionOf(clause, names, clause.kind === "tag" && clause.key === PROMPT_TAG && clause.operator === "!="),
  );
  const orders = readOrderBy(readTexts(body["order_by"], "order_by"), form).map((part) => orderOf(part, names));
  return { conditions, orders };
}

/** GET registered-models/search. */
export const searchRegistered: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const asked = modelFields.read(body);
  const search = readSearch(body, asked.filter, modelForm, modelNames);
  const request = { ...search, limit: asked.maxResults, cursor: asked.pageToken ?? "" };
  const { models, nextCursor } = await clients.registry.searchRegisteredModels(request, call);
  return {
    body: {
      ...(models.length === 0 ? {} : { registered_models: models.map(registeredJson) }),
      ...(nextCursor === "" ? {} : { next_page_token: nextCursor }),
    },
  };
};

/** GET model-versions/search: the last changed first. */
export const searchVersions: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const asked = versionFields.read(body);
  const search = readSearch(body, asked.filter, versionForm, versionNames);
  const request = { ...search, limit: asked.maxResults, cursor: asked.pageToken ?? "" };
  const { versions, nextCursor } = await clients.registry.searchRegisteredVersions(request, call);
  return {
    body: {
      ...(versions.length === 0 ? {} : { model_versions: versions.map(versionJson) }),
      ...(nextCursor === "" ? {} : { next_page_token: nextCursor }),
    },
  };
};

import { badRequest, isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { object, withDefault } from "../../../api/fields/field.ts";
import type { Clients } from "../../../clients.ts";
import { findExperiment } from "../experiments/find.ts";
import { anyText, messages } from "../fields.ts";
import { type FilterForm, readFilter, readOrderBy } from "../filter.rules.ts";
import { experimentIdOf, runUuid } from "../ids.ts";
import { conditionOf, maxResults, orderOf, pageToken, readTexts, type ServiceNames } from "../pages.ts";
import type { MlflowRoute } from "../route.ts";
import { modelUuid } from "./ids.ts";
import { modelJson } from "./model-json.ts";

const form: FilterForm = {
  attributes: {
    name: "listed",
    model_id: "listed",
    model_type: "listed",
    status: "listed",
    source_run_id: "listed",
    creation_timestamp: "number",
    last_updated_timestamp: "number",
  },
  aliases: { creation_time: "creation_timestamp" },
  kinds: ["metric", "param", "tag"],
  sorted: ["name", "model_id", "model_type", "status", "source_run_id", "creation_timestamp", "last_updated_timestamp"],
};

const statuses: Readonly<Record<string, string>> = { PENDING: "pending", READY: "ready", UPLOAD_FAILED: "failed" };

const names: ServiceNames = {
  fields: {
    name: "name",
    model_id: "id",
    model_type: "type",
    status: "status",
    source_run_id: "source_run_id",
    creation_timestamp: "created_at",
    last_updated_timestamp: "updated_at",
  },
  textOf: (field, text) => {
    if (field === "id") return modelUuid(text) ?? text;
    if (field === "source_run_id") return runUuid(text) ?? text;
    return field === "status" ? (statuses[text.replace("LOGGED_MODEL_", "")] ?? text) : text;
  },
};

const text = withDefault(anyText(), "");
const fields = object({
  filter: text,
  datasets: messages(100, object({ dataset_name: anyText(), dataset_digest: text }).read),
  order_by: messages(
    20,
    object({
      field_name: anyText(),
      ascending: { schema: {}, required: false, check: Boolean, absent: () => true },
      dataset_name: text,
      dataset_digest: text,
    }).read,
  ),
  max_results: maxResults(100, 100_000),
  page_token: pageToken,
});

/** Each is looked up. */
const EXPERIMENTS_MAX = 100;

/** POST logged-models/search. Experiments that do not exist have no models. */
export const searchModels: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { filter, datasets, orderBy, maxResults: limit, pageToken: cursor = "" } = fields.read(body);
  const experimentIds = readTexts(body["experiment_ids"], "experiment_ids");
  if (experimentIds.length > EXPERIMENTS_MAX) {
    throw badRequest(`experiment_ids must have at most ${EXPERIMENTS_MAX} items`, "experiment_ids");
  }
  const conditions = readFilter(filter, form).map((clause) => conditionOf(clause, names));
  const orders = orderBy.map(({ fieldName, ascending, datasetName, datasetDigest }) => {
    const [part] = readOrderBy([`${fieldName} ${ascending ? "ASC" : "DESC"}`], form);
    const dataset = datasetName === "" ? undefined : { name: datasetName, digest: datasetDigest };
    return { ...orderOf(part!, names), ...(dataset === undefined ? {} : { dataset }) };
  });
  const experiments = await experimentsByProject(clients, experimentIds, call);
  const { models, nextCursor } = await clients.models.searchModels(
    {
      projectIds: [...experiments.keys()],
      conditions,
      orders,
      datasets: datasets.map(({ datasetName, datasetDigest }) => ({ name: datasetName, digest: datasetDigest })),
      limit,
      cursor,
    },
    call,
  );
  return {
    body: {
      ...(models.length === 0
        ? {}
        : { models: models.map((model) => modelJson(model, experiments.get(model.projectId)!)) }),
      ...(nextCursor === "" ? {} : { next_page_token: nextCursor }),
    },
  };
};

/** Returns the ids of the experiments that exist and are not deleted, by their projects. */
async function experimentsByProject(
  clients: Clients,
  ids: readonly string[],
  call: Call,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const id of new Set(ids)) {
    const project = await findExperiment(clients, id, call).catch((error: unknown) => {
      if (isAppError(error) && error.reason === "not_found") return undefined;
      throw error;
    });
    if (project !== undefined && project.deletion === undefined) {
      found.set(project.id, experimentIdOf(project.name, project.number));
    }
  }
  return found;
}

import { badRequest, isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { object, withDefault } from "../../../api/fields/field.ts";
import type { Clients } from "../../../clients.ts";
import { passes } from "../compare.rules.ts";
import { anyText } from "../fields.ts";
import { type FilterClause, type FilterForm, readFilter, readOrderBy } from "../filter.rules.ts";
import {
  type AnyOf,
  type Condition,
  conditionOn,
  fieldOf,
  type FoundBy,
  keptOf,
  orderBy,
  readView,
} from "../find.rules.ts";
import { DEFAULT_EXPERIMENT } from "../ids.ts";
import { NOTE_TAG } from "../notes.ts";
import { maxResults, pageToken, readTexts } from "../pages.ts";
import type { MlflowRoute } from "../route.ts";
import { defaultExperimentJson, experimentJson } from "./experiment.ts";
import { findByName } from "./find.ts";

const form: FilterForm = {
  attributes: { name: "text", experiment_id: "listed", creation_time: "number", last_update_time: "number" },
  kinds: ["tag"],
  sorted: ["name", "experiment_id", "creation_time", "last_update_time"],
};

const attributes: Readonly<Record<string, FoundBy>> = {
  name: fieldOf("name"),
  experiment_id: fieldOf("number"),
  creation_time: fieldOf("created_at"),
  last_update_time: fieldOf("updated_at"),
};

const fields = object({
  filter: withDefault(anyText(), ""),
  max_results: maxResults(1000, 50_000),
  page_token: pageToken,
});

/** Returns a clause as conditions, all of which have to hold. @throws bad_request */
function conditions(clause: FilterClause): AnyOf[] {
  const { kind, key } = clause;
  if (kind === "attribute" && key === "experiment_id") return ofIds(clause);
  if (kind === "attribute") return [{ any: [conditionOn([attributes[key]!], clause)] }];
  if (key === NOTE_TAG) throw badRequest(`experiments are not searched by the tag ${NOTE_TAG}`, "filter");
  return [{ any: [conditionOn([keptOf("tags", key)], clause)] }];
}

/** Ids are numbers of projects, but for that of `Default`. */
function ofIds({ operator, texts }: FilterClause): AnyOf[] {
  if (operator === "LIKE" || operator === "ILIKE")
    throw badRequest(`attribute experiment_id cannot be compared with ${operator}`, "filter");
  const isNegated = operator === "!=" || operator === "NOT IN";
  const each = texts.flatMap((id): Condition[] => {
    const operand = { operator: isNegated ? "!=" : "=" };
    if (id === DEFAULT_EXPERIMENT.id)
      return [{ ...operand, firstOf: [fieldOf("name")], texts: [DEFAULT_EXPERIMENT.name] }];
    return /^\d{1,15}$/.test(id) ? [{ ...operand, firstOf: [fieldOf("number")], number: Number(id) }] : [];
  });
  return isNegated ? each.map((condition) => ({ any: [condition] })) : [{ any: each }];
}

/** The page after one that had only `Default`. */
const AFTER_DEFAULT = "after-default";

/** POST and GET experiments/search. `Default` is the first of the first page until something was written to it. */
export const searchExperiments: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { filter, maxResults: limit, pageToken: token = "" } = fields.read(body);
  const view = readView(body["view_type"], "view_type");
  const clauses = readFilter(filter, form);
  const all = clauses.flatMap(conditions);
  const orders = readOrderBy(readTexts(body["order_by"], "order_by"), form).map((part) =>
    orderBy(part.kind === "attribute" ? [attributes[part.key]!] : [keptOf("tags", part.key)], part),
  );
  const isFirst = token === "" && view !== "deleted" && clauses.every(isOfDefault);
  const hasDefault = isFirst && (await isUnwritten(clients, call));
  const first = hasDefault ? [defaultExperimentJson] : [];
  if (first.length === limit) return { body: { experiments: first, next_page_token: AFTER_DEFAULT } };
  const cursor = token === AFTER_DEFAULT ? "" : token;
  const query = { all, orders, view, limit: limit - first.length, cursor };
  const { projects, nextCursor } = await clients.runs.findProjects({ query }, call).catch((error: unknown) => {
    throw isAppError(error) && error.field === "cursor"
      ? badRequest("page_token is not of this search", "page_token")
      : error;
  });
  const experiments = [...first, ...projects.map(experimentJson)];
  return {
    body: {
      ...(experiments.length === 0 ? {} : { experiments }),
      ...(nextCursor === "" ? {} : { next_page_token: nextCursor }),
    },
  };
};

async function isUnwritten(clients: Clients, call: Call): Promise<boolean> {
  return (await findByName(clients, DEFAULT_EXPERIMENT.name, call)) === undefined;
}

/** Returns whether `Default` passes a clause before anything was written to it. */
function isOfDefault(clause: FilterClause): boolean {
  const { name, id } = DEFAULT_EXPERIMENT;
  const values: Readonly<Record<string, string | number>> = {
    name,
    experiment_id: id,
    creation_time: 0,
    last_update_time: 0,
  };
  return passes(clause, clause.kind === "attribute" ? values[clause.key] : undefined);
}

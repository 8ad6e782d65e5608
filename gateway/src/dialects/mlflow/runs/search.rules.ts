import { badRequest } from "@tidemark/errors";
import { passes } from "../compare.rules.ts";
import type { FilterClause, FilterForm, SortPart } from "../filter.rules.ts";
import {
  type AnyOf,
  type Condition,
  conditionOn,
  fieldOf,
  type FoundBy,
  keptOf,
  type Order,
  orderBy,
} from "../find.rules.ts";
import { runUuid } from "../ids.ts";
import { NOTE_TAG } from "../notes.ts";
import { NAME_TAG, placeOfTag } from "./tags.ts";

/** What searches of runs filter and sort by. Artifact addresses and datasets are not searched, states are not sorted by. */
export const runForm: FilterForm = {
  attributes: {
    run_id: "listed",
    run_name: "text",
    status: "text",
    user_id: "text",
    start_time: "number",
    end_time: "number",
  },
  aliases: { created: "start_time", Created: "start_time" },
  kinds: ["metric", "param", "tag"],
  sorted: ["run_id", "run_name", "user_id", "start_time", "end_time"],
};

const attributes: Readonly<Record<string, FoundBy[]>> = {
  run_id: [fieldOf("id")],
  run_name: [fieldOf("name")],
  user_id: [keptOf("user")],
  start_time: [{ ...keptOf("start_time"), number: true }, fieldOf("started_at")],
  end_time: [{ ...keptOf("end_time"), number: true }, fieldOf("finished_at")],
};

/** Returns what a name of a filter or an order stands for. @throws bad_request for the note, which has no single place */
function foundBy({ kind, key }: Pick<FilterClause, "kind" | "key">): FoundBy[] {
  switch (kind) {
    case "attribute":
      return attributes[key]!;
    case "metric":
      return [{ of: "metric", path: [key] }];
    case "param":
      return [{ of: "config", path: [key] }];
    default: {
      if (key === NAME_TAG) return attributes["run_name"]!;
      if (key === NOTE_TAG) throw badRequest(`runs are not searched or sorted by the tag ${NOTE_TAG}`, "filter");
      const place = placeOfTag(key);
      return [place === undefined ? keptOf("tags", key) : keptOf(place)];
    }
  }
}

/** Returns a clause as conditions, all of which have to hold. @throws bad_request */
export function runConditions(clause: FilterClause): AnyOf[] {
  const { kind, key, operator } = clause;
  const isAttribute = kind === "attribute";
  if (isAttribute && key === "status") return statusConditions(clause);
  if (isAttribute && key === "run_id") {
    if (operator === "LIKE" || operator === "ILIKE")
      throw badRequest(`attribute run_id cannot be compared with ${operator}`, "filter");
    return [{ any: [conditionOn(foundBy(clause), { ...clause, texts: clause.texts.map((id) => runUuid(id) ?? id) })] }];
  }
  // A run without a user is read with an empty one, and one that runs without an end.
  const condition = {
    any: [conditionOn(foundBy(clause), clause, isAttribute && key === "user_id" && operator === "!=")],
  };
  return isAttribute && key === "end_time" ? [condition, isNot(["running", "stopping"])] : [condition];
}

const shown = (operator: string, statuses: string[]): Condition => ({
  firstOf: [fieldOf("display_status")],
  operator,
  texts: statuses,
});
const kept = (operator: string, word: string): Condition => ({
  firstOf: [keptOf("status")],
  operator,
  texts: [word],
  orMissing: operator === "!=",
});
const isNot = (statuses: string[], ...unless: Condition[]): AnyOf => ({ any: [shown("not in", statuses), ...unless] });

const RUNNING = ["running", "stopping"];

/** The statuses that a word may be shown for, and conditions that no run with it passes. */
const words: Readonly<Record<string, { readonly shown: string[]; readonly others: AnyOf[] }>> = {
  RUNNING: { shown: RUNNING, others: [isNot(RUNNING, kept("=", "SCHEDULED"))] },
  SCHEDULED: { shown: RUNNING, others: [isNot(RUNNING, kept("!=", "SCHEDULED"))] },
  FINISHED: { shown: ["finished"], others: [isNot(["finished"])] },
  FAILED: { shown: ["failed"], others: [isNot(["failed"], kept("=", "KILLED"))] },
  KILLED: { shown: ["failed", "stopped"], others: [isNot(["stopped"]), isNot(["failed"], kept("!=", "KILLED"))] },
};

/** A status is one of few words: the clause excludes those that do not pass it. */
function statusConditions(clause: FilterClause): AnyOf[] {
  const wanted = Object.keys(words).filter((word) => passes(clause, word));
  const some = [...new Set(wanted.flatMap((word) => words[word]!.shown))];
  const others = Object.entries(words).flatMap(([word, { others: without }]) => (wanted.includes(word) ? [] : without));
  // The first one is found by an index.
  return [{ any: [shown("in", some)] }, ...others];
}

/** Returns a part of an order. @throws bad_request */
export function runOrder(part: SortPart): Order {
  return orderBy(foundBy(part), part);
}

/** Runs that hold the traces without a run of their own are not listed. */
export const isListed: AnyOf = { any: [{ firstOf: [keptOf("traces")], operator: "is null" }] };

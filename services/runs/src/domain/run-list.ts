import { badRequest } from "@tidemark/errors";
import type { SearchTree } from "../search/tree.rules.ts";

/** The orders of a run list (API specification, GET /runs). */
export const RUN_SORTS = ["created", "name", "status", "duration", "metric-latest", "metric-best"] as const;

/** An order of a run list. */
export type RunSort = (typeof RUN_SORTS)[number];

/** Which runs: all that pass every filter. An undefined one lets everything through. */
export type RunFilter = {
  readonly projectId: string | undefined;
  /** Stored status. */
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly search: SearchTree | undefined;
};

/** In which order. Equal runs come newest first, then by id, so that every order is total. */
export type RunOrder = {
  readonly sort: RunSort;
  /** The metric of the metric sorts. */
  readonly metricKey: string;
};

/** Most runs of a page. */
export const RUNS_LIMIT_MAX = 1000;

/** Most metric keys that a list shows of each run. */
export const LIST_METRIC_KEYS_MAX = 250;

/** Reads an order. @throws bad_request */
export function requireSort(text: string): RunSort {
  const sort = RUN_SORTS.find((known) => known === text);
  if (sort === undefined) throw badRequest(`sort_by must be one of ${RUN_SORTS.join(", ")}`, "sort_by");
  return sort;
}

/** Where a list goes on: after the run with these sort values. */
export type RunPosition = {
  /** Runs without the value that is sorted by come after all others: `rest`. */
  readonly part: "valued" | "rest";
  /** Name; status shown and name; duration in microseconds; or metric value. Empty for the newest first and for the rest. */
  readonly values: readonly (string | number)[];
  /** RFC 3339 with microseconds. */
  readonly createdAt: string;
  readonly id: string;
};

/** How a page begins. */
export type RunStart = { readonly offset: number } | { readonly after: RunPosition };

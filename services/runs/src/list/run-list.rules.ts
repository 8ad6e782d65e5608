import { badRequest } from "@tidemark/errors";
import { RUN_SORTS } from "@tidemark/limits";

/** A member of `RUN_SORTS`. */
export type RunSort = (typeof RUN_SORTS)[number];

/** The order of a list. Equal runs are listed newest first, then by id, so that every order is total. */
export type RunOrder = {
  readonly sort: RunSort;
  /** The metric to sort by; ignored by other sorts. */
  readonly metricKey: string;
};

/** Returns a sort that is known. @throws bad_request */
export function requireSort(text: string): RunSort {
  const sort = RUN_SORTS.find((known) => known === text);
  if (sort === undefined) throw badRequest(`sort_by must be one of ${RUN_SORTS.join(", ")}`, "sort_by");
  return sort;
}

/** Returns which value of the metric an order compares; undefined for orders without a metric. */
export function sortedBy(sort: RunSort): "best" | "latest" | undefined {
  if (sort === "metric-best") return "best";
  return sort === "metric-latest" ? "latest" : undefined;
}

/** Where a list continues: after the run with these sort values. */
export type RunPosition = {
  /** Runs without a value to sort by are the `rest`, after all others. */
  readonly part: "valued" | "rest";
  /** By sort: name; display status and name; duration in microseconds; or metric sort value. Empty for `created` and for the rest. */
  readonly values: readonly (string | number)[];
  /** RFC 3339 with microseconds. */
  readonly createdAt: string;
  readonly id: string;
};

/** How a page starts. */
export type RunStart = { readonly offset: number } | { readonly after: RunPosition };

import { isMinimizeKey } from "@tidemark/metric-codec";
import type { Bind } from "../search/search-condition.sql.ts";
import { runSource, type RunFilter, type RunSource } from "./run-filter.sql.ts";
import type { RunOrder } from "./run-list.rules.ts";

/** The runs of one part of a sorted list, and the values to sort them by. */
export type OrderedRuns = RunSource & {
  /** Compared before time and id, in this order; all are ascending or all descending. */
  readonly values: readonly { readonly sql: string; readonly type: string }[];
  readonly descending: boolean;
};

/** Runs with a value to sort by, or the rest, which are listed after them. */
export type OrderPart = "valued" | "rest";

/**
 * Returns the runs of one part of a list. Several elements must be merged; they have the same `with`. Only durations
 * and metrics have a rest. All SQL consists of constants; values of the caller go through `bind`.
 */
export function orderedRuns(
  filter: RunFilter,
  order: RunOrder,
  part: OrderPart,
  bind: Bind,
  counted = false,
): readonly OrderedRuns[] {
  const { sort } = order;
  const plain = (row: boolean) => ({ ...runSource(filter, row, bind, counted), values: [], descending: true });
  switch (sort) {
    case "created":
      return [plain(false)];
    case "name":
      return [{ ...plain(true), values: [{ sql: "r.name", type: "text" }], descending: false }];
    case "status": {
      const values = ["r.display_status", "r.name"].map((sql) => ({ sql, type: "text" }));
      return [{ ...plain(true), values, descending: false }];
    }
    case "duration": {
      const runs = plain(true);
      if (part === "rest") return [{ ...runs, where: `${runs.where} AND r.duration IS NULL` }];
      const values = [{ sql: "r.duration", type: "interval" }];
      return [{ ...runs, where: `${runs.where} AND r.duration IS NOT NULL`, values }];
    }
    case "metric-latest":
    case "metric-best":
      return part === "rest" ? [withoutMetric(filter, order, bind)] : byMetric(filter, order, bind);
    default:
      throw new Error(`no order for ${String(sort satisfies never)}`);
  }
}

/** Reads indexed runs from the index of sort values, and the few other runs from their aggregates. */
function byMetric(filter: RunFilter, { sort, metricKey }: RunOrder, bind: Bind): OrderedRuns[] {
  const values = [{ sql: sort === "metric-best" ? "h.sort_best" : "h.sort_latest", type: "float8" }];
  const runs = runSource(filter, true, bind);
  const where = `${runs.where} AND h.org_id = $1 AND h.key = ${bind(metricKey)}`;
  const from = (view: string): string => `${runs.from} JOIN ${view} h ON h.org_id = r.org_id AND h.run_id = r.id`;
  const valued = { ...runs, where, id: "h.run_id", values, descending: true };
  return [
    { ...valued, from: from("ingest.metric_sort_values_v1"), createdAt: "h.sort_created_at" },
    { ...valued, from: from("ingest.unindexed_sort_values_v1") },
  ];
}

function withoutMetric(filter: RunFilter, { metricKey }: RunOrder, bind: Bind): OrderedRuns {
  const runs = runSource(filter, true, bind);
  const key = `ingest.metric_keys_v1 h WHERE h.org_id = r.org_id AND h.run_id = r.id AND h.key = ${bind(metricKey)}`;
  return {
    ...runs,
    // OFFSET keeps it a look-up per run: a join would read the keys of all runs first.
    where: `${runs.where} AND NOT EXISTS (SELECT FROM ${key} OFFSET 0)`,
    values: [],
    descending: true,
  };
}

/** Returns the best value of a metric from its sort value, which has the opposite sign where less is better. */
export function bestOfSortValue(metricKey: string, sortValue: number): number {
  return isMinimizeKey(metricKey) ? 0 - sortValue : sortValue;
}

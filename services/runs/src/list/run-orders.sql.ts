import type { Column } from "@tidemark/values/run-search";
import { isMinimizeKey } from "@tidemark/values/metric-direction";
import { runOfId, type Bind } from "../read/runs.sql.ts";
import { comparableValue } from "../columns/column-values.sql.ts";
import { columnConditions, joinForIndexScan, runSource, type RunFilter, type RunSource } from "./run-filter.sql.ts";
import { isDescending, metricOrderOf, type MetricOrder, type RunOrder } from "./run-list.rules.ts";

/** The runs of one part of a sorted list, and the values to sort them by. */
export type OrderedRuns = RunSource & {
  /** Compared before time and id, in this order; all are ascending or all descending. */
  readonly values: readonly { readonly sql: string; readonly type: string }[];
  readonly descending: boolean;
};

/** Runs with a value to sort by, or the rest, which are listed after them. */
export type OrderPart = "valued" | "rest";

/**
 * Returns the runs of one part of a list. Several elements must be merged; they have the same `with`. Only durations,
 * metrics and columns have a rest. All SQL consists of constants; values of the caller go through `bind`.
 */
export function orderedRuns(filter: RunFilter, order: RunOrder, part: OrderPart, bind: Bind): readonly OrderedRuns[] {
  const metric = metricOrderOf(order);
  if (metric !== undefined)
    return part === "rest" ? [withoutMetric(filter, metric, bind)] : byMetric(filter, metric, bind);
  const descending = isDescending(order);
  const by = (...values: OrderedRuns["values"]) => ({ ...runSource(filter, "row", bind), values, descending });
  switch (order.sort) {
    case "created": {
      const runs = { ...runSource(filter, "position", bind), values: [], descending };
      return [descending ? runs : { ...runs, values: [{ sql: runs.createdAt, type: "timestamptz" }] }];
    }
    case "name":
      return [by({ sql: "r.name", type: "text" })];
    case "status":
      return [by({ sql: "r.display_status", type: "text" }, { sql: "r.name", type: "text" })];
    case "duration": {
      const runs = by({ sql: "r.duration", type: "interval" });
      if (part === "rest") return [{ ...runs, where: `${runs.where} AND r.duration IS NULL`, values: [] }];
      return [{ ...runs, where: `${runs.where} AND r.duration IS NOT NULL` }];
    }
    case "column":
      return order.kept === undefined
        ? [byColumn(filter, order.column, descending, part, bind)]
        : [byKeptColumn(filter, order.kept, descending, part, bind)];
    default:
      throw new Error(`no order for ${order.sort}`);
  }
}

/** Looks up the value of each run. */
function byColumn(filter: RunFilter, column: Column, descending: boolean, part: OrderPart, bind: Bind): OrderedRuns {
  const runs = runSource(filter, "position", bind);
  const value = comparableValue(column, runs.id, bind);
  if (part === "rest") return { ...runs, where: `${runs.where} AND NOT EXISTS (${value})`, values: [], descending };
  return {
    ...runs,
    from: `${runs.from} CROSS JOIN LATERAL (${value}) v`,
    values: [
      { sql: "v.num", type: "float8" },
      { sql: "v.txt", type: "text" },
    ],
    descending,
  };
}

/** Walks the values that are kept for every run; with a search, looks up those of the runs that it found. */
function byKeptColumn(filter: RunFilter, kept: string, descending: boolean, part: OrderPart, bind: Bind): OrderedRuns {
  const column = bind(kept);
  const valueOf = (run: string): string =>
    `SELECT k.num, k.txt FROM runs.kept_values k
     WHERE k.org_id = $1 AND k.column_id = ${column}::uuid AND k.run_id = ${run} AND k.num IS NOT NULL OFFSET 0`;
  const values = [
    { sql: "v.num", type: "float8" },
    { sql: "v.txt", type: "text" },
  ];
  const { search, ids, few } = filter;
  const isWalk = search === undefined && ids === undefined && few !== true;
  if (part === "valued" && isWalk) {
    const met = joinForIndexScan(filter, "v.run_id", columnConditions(filter, "r", bind));
    return {
      with: "",
      from: `runs.kept_values v ${met.join}`,
      where: `v.org_id = $1 AND v.column_id = ${column}::uuid AND v.num IS NOT NULL AND ${met.where}`,
      id: "v.run_id",
      createdAt: "v.created_at",
      values,
      descending,
    };
  }
  const runs = runSource(filter, "position", bind);
  if (part === "rest")
    return { ...runs, where: `${runs.where} AND NOT EXISTS (${valueOf(runs.id)})`, values: [], descending };
  return { ...runs, from: `${runs.from} CROSS JOIN LATERAL (${valueOf(runs.id)}) v`, values, descending };
}

/**
 * With a search, looks up the aggregate of each run that it found. Without one, walks the index of sort values. Those of a sort key are exact, for
 * all runs; of another metric those of indexed runs are, and the other runs are added from their aggregates. The
 * statement itself determines which case applies, in its own snapshot.
 */
function byMetric(filter: RunFilter, { key: metricKey, by, descending }: MetricOrder, bind: Bind): OrderedRuns[] {
  const key = bind(metricKey);
  const { search, ids, few } = filter;
  if (search !== undefined || ids !== undefined || few === true) {
    const runs = runSource(filter, "position", bind);
    const best = isMinimizeKey(metricKey) ? "- h.best" : "h.best";
    const found = `SELECT ${by === "best" ? best : "h.latest"} AS value FROM ingest.metric_aggregates_v1 h
                   WHERE h.org_id = $1 AND h.run_id = ${runs.id} AND h.key = ${key} AND h.count > 0 OFFSET 0`;
    const from = `${runs.from} CROSS JOIN LATERAL (${found}) h`;
    return [{ ...runs, from, values: [{ sql: "h.value", type: "float8" }], descending }];
  }
  const column = `h.sort_${by}`;
  const isSortKey = `(SELECT EXISTS (SELECT FROM ingest.sort_keys_v1 s WHERE s.org_id = $1 AND s.key = ${key} AND s.by = '${by}'))`;
  const columns = columnConditions(filter, "r", bind);
  const met = joinForIndexScan(filter, "h.run_id", columns);
  const valued = { with: "", values: [{ sql: column, type: "float8" }], id: "h.run_id", descending };
  return [
    {
      ...valued,
      from: `ingest.sort_values_v1 h ${met.join}`,
      where: `h.org_id = $1 AND h.key = ${key} AND ${column} IS NOT NULL AND (${isSortKey} OR h.indexed) AND ${met.where}`,
      createdAt: "h.sort_created_at",
    },
    {
      ...valued,
      from: `ingest.unindexed_sort_values_v2($1, ${key}) h ${runOfId("h.run_id")}`,
      where: `NOT ${isSortKey} AND ${columns}`,
      createdAt: "r.created_at",
    },
  ];
}

/** Runs that do not have the key, or no finite value of it. */
function withoutMetric(filter: RunFilter, { key: metricKey }: MetricOrder, bind: Bind): OrderedRuns {
  const runs = runSource(filter, "position", bind);
  const finite = `ingest.metric_aggregates_v1 h WHERE h.org_id = $1 AND h.run_id = ${runs.id} AND h.key = ${bind(metricKey)} AND h.count > 0`;
  return {
    ...runs,
    // OFFSET keeps it a look-up per run: a join would read the keys of all runs first.
    where: `${runs.where} AND NOT EXISTS (SELECT FROM ${finite} OFFSET 0)`,
    values: [],
    descending: true,
  };
}

/** Returns the best value of a metric from its sort value, which has the opposite sign where less is better. */
export function bestOfSortValue(metricKey: string, sortValue: number): number {
  return isMinimizeKey(metricKey) ? 0 - sortValue : sortValue;
}

import { isMinimiseKey } from "@tidemark/metric-codec";
import type { RunOrder } from "../domain/run-list.ts";
import type { Bind } from "../search/search-condition.sql.ts";
import { runSource, type PlainFilter, type RunSource } from "./run-conditions.ts";

/** One part of a sorted list: its runs, and the values that they are sorted by. */
export type OrderedRuns = RunSource & {
  /** Compared before time and id, in this order; all ascending, or all descending. */
  readonly values: readonly { readonly sql: string; readonly type: string }[];
  readonly descending: boolean;
};

/** Runs that have the value that is sorted by, or those that come after them because they have none. */
export type OrderPart = "valued" | "rest";

/**
 * The runs of one part of a list; those of several elements have to be merged, and begin alike. Only durations and
 * metrics have a rest. All SQL is made of constants; values of the caller go through `bind`.
 */
export function orderedRuns(
  filter: PlainFilter,
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

/** Settled runs come from an index, the few others from their heads. */
function byMetric(filter: PlainFilter, { sort, metricKey }: RunOrder, bind: Bind): OrderedRuns[] {
  const values = [{ sql: sort === "metric-best" ? "h.rank_best" : "h.rank_latest", type: "float8" }];
  const runs = runSource(filter, true, bind);
  const where = `${runs.where} AND h.org_id = $1 AND h.key = ${bind(metricKey)}`;
  const from = (view: string): string =>
    `${runs.from} JOIN ingest.${view} h ON h.org_id = r.org_id AND h.run_id = r.id`;
  const ranked = { ...runs, where, id: "h.run_id", values, descending: true };
  return [
    { ...ranked, from: from("metric_ranks_v1"), createdAt: "h.rank_created_at" },
    { ...ranked, from: from("unsettled_ranks_v1") },
  ];
}

function withoutMetric(filter: PlainFilter, { metricKey }: RunOrder, bind: Bind): OrderedRuns {
  const runs = runSource(filter, true, bind);
  const head = `ingest.metric_keys_v1 h WHERE h.org_id = r.org_id AND h.run_id = r.id AND h.key = ${bind(metricKey)}`;
  return {
    ...runs,
    // OFFSET keeps it a look-up per run: as a join it would read the heads of all runs first.
    where: `${runs.where} AND NOT EXISTS (SELECT FROM ${head} OFFSET 0)`,
    values: [],
    descending: true,
  };
}

/** The best value of a metric that a rank stands for: ranks of keys where less is better are negative. */
export function bestOfRank(metricKey: string, rank: number): number {
  return isMinimiseKey(metricKey) ? 0 - rank : rank;
}

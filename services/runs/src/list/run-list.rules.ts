import { columnName, readColumn, type Column } from "@tidemark/values/run-search";
import { badRequest } from "@tidemark/errors";
import { RUN_SORTS } from "@tidemark/limits";
import { isMinimizeKey } from "@tidemark/values/metric-direction";

/** A member of `RUN_SORTS`. */
export type RunSort = (typeof RUN_SORTS)[number];

/** The direction in which values are sorted. */
type Direction = "asc" | "desc";

/**
 * The order of a list. Equal runs are listed newest first, then by id, so that every order is total. Runs without a value to sort by come last,
 * in both directions.
 */
export type RunOrder =
  | {
      readonly sort: RunSort;
      /** The metric to sort by; ignored by other sorts. */
      readonly metricKey: string;
      /** Absent: ascending for names and states, descending for the others. */
      readonly direction?: Direction | undefined;
    }
  | {
      readonly sort: "column";
      readonly column: Column;
      readonly direction: Direction;
      /** Under which id the values of the column are kept for every run, in the snapshot of the list; absent: they are looked up. */
      readonly kept?: string | undefined;
    };

/** Reads an order. @throws bad_request with field `sort_by` or `sort_dir` */
export function readOrder(order: {
  readonly sortBy: string;
  readonly metricKey: string;
  readonly sortDir: string;
}): RunOrder {
  const { sortBy, metricKey, sortDir } = order;
  if (sortDir !== "" && sortDir !== "asc" && sortDir !== "desc")
    throw badRequest("sort_dir must be asc or desc", "sort_dir");
  const sort = RUN_SORTS.find((known) => known === sortBy);
  if (sort !== undefined) return { sort, metricKey, ...(sortDir === "" ? {} : { direction: sortDir }) };
  const column = readColumn(sortBy);
  if (column === undefined)
    throw badRequest(
      `sort_by must be one of ${RUN_SORTS.join(", ")}, or a column: config.<path>, metrics.<key>, attributes.<path>`,
      "sort_by",
    );
  return { sort: "column", column, direction: sortDir === "" ? "asc" : sortDir };
}

/** Returns whether the values of an order are listed from the highest one down. */
export function isDescending({ sort, direction }: RunOrder): boolean {
  if (direction !== undefined) return direction === "desc";
  return sort !== "name" && sort !== "status";
}

/** An order by the best or the latest value of a metric. Both have sort values: more is better in those of `best`. */
export type MetricOrder = { readonly key: string; readonly by: "best" | "latest"; readonly descending: boolean };

/** Returns the order of sort values that an order means; undefined for orders by something else. */
export function metricOrderOf(order: RunOrder): MetricOrder | undefined {
  const descending = isDescending(order);
  if (order.sort === "metric-best") return { key: order.metricKey, by: "best", descending };
  if (order.sort === "metric-latest") return { key: order.metricKey, by: "latest", descending };
  if (order.sort !== "column" || order.column.kind !== "metrics") return undefined;
  const { key, figure } = order.column;
  if (figure === "latest") return { key, by: "latest", descending };
  const isMinimized = isMinimizeKey(key);
  if (figure !== "best" && figure !== (isMinimized ? "min" : "max")) return undefined;
  // The highest sort value is the lowest value where less is better.
  return { key, by: "best", descending: descending !== isMinimized };
}

/** Returns a text that is equal for orders that list the same runs in the same order. */
export function orderName(order: RunOrder): string {
  if (order.sort === "column") return `${columnName(order.column)} ${order.direction}`;
  return order.direction === undefined ? order.sort : `${order.sort} ${order.direction}`;
}

/** Where a list continues: after the run with these sort values. */
export type RunPosition = {
  /** Runs without a value to sort by are the `rest`, after all others. */
  readonly part: "valued" | "rest";
  /**
   * By sort: name; display status and name; duration in microseconds; metric sort value; number and text of a column. Empty for the newest first
   * and for the rest. Numbers that are not finite are texts.
   */
  readonly values: readonly (string | number)[];
  /** RFC 3339 with microseconds. */
  readonly createdAt: string;
  readonly id: string;
};

/** How a page starts. */
export type RunStart = { readonly offset: number } | { readonly after: RunPosition };

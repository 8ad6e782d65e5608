import { sql, type Statement, type Tx } from "@tidemark/pg";
import type { RunSort } from "../domain/run-list.ts";
import { metricColumns, metricsOf, type MetricRow } from "./metric-row.ts";
import { runColumns, type RunRow } from "./run-row.ts";

/** Which runs, in which order, and which page of them. Undefined filters let everything through. */
export type RunList = {
  /** Of a project-scoped key. */
  readonly projectId: string | undefined;
  /** Name of the project. */
  readonly project: string | undefined;
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly sort: RunSort;
  readonly metricKey: string;
  /** Of the metric sorts: whether less is better. */
  readonly minimise: boolean;
  readonly limit: number;
  readonly offset: bigint;
  /** Most metric keys of each run. */
  readonly metricKeysMax: number;
};

type Filter = {
  readonly name: "scope" | "project" | "status" | "display";
  readonly value: (list: RunList) => string | undefined;
  readonly condition: (parameter: string) => string;
};

const FILTERS: readonly Filter[] = [
  { name: "scope", value: (list) => list.projectId, condition: (id) => `r.project_id = ${id}` },
  {
    name: "project",
    value: (list) => list.project,
    condition: (name) => `r.project_id = (SELECT p.id FROM runs.projects p WHERE p.org_id = $1 AND p.name = ${name})`,
  },
  { name: "status", value: (list) => list.status, condition: (status) => `r.status = ${status}` },
  { name: "display", value: (list) => list.displayStatus, condition: (status) => `r.display_status = ${status}` },
];

const NEWEST = "r.created_at DESC, r.id DESC";

/** How a sort orders; `metric` is the head's column that it reads as metric_value. */
type Order = { readonly by: string; readonly metric?: "latest" | "max" | "min" };

function orderOf({ sort, minimise }: RunList): Order {
  switch (sort) {
    case "created":
      return { by: NEWEST };
    case "name":
      return { by: `r.name, ${NEWEST}` };
    case "status":
      return { by: `r.display_status, r.name, ${NEWEST}` };
    case "duration":
      // A running run has no duration, also while it still carries the time of an earlier finish.
      return { by: `CASE WHEN r.status <> 'running' THEN r.finished_at - r.started_at END DESC NULLS LAST, ${NEWEST}` };
    case "metric-latest":
      return { by: `metric_value DESC NULLS LAST, ${NEWEST}`, metric: "latest" };
    case "metric-best":
      return minimise
        ? { by: `metric_value ASC NULLS LAST, ${NEWEST}`, metric: "min" }
        : { by: `metric_value DESC NULLS LAST, ${NEWEST}`, metric: "max" };
    default:
      throw new Error(`no order for ${String(sort satisfies never)}`);
  }
}

// $1 organization, $2 limit, $3 offset, $4 metric keys of each run; for the metric sorts $5, the key.
function textOf({ by, metric }: Order, where: string): string {
  const runs =
    metric === undefined
      ? "SELECT r.* FROM runs.runs r"
      : `SELECT r.*, h.${metric} AS metric_value FROM runs.runs r
         LEFT JOIN ingest.metric_heads_v1 h ON h.org_id = r.org_id AND h.run_id = r.id AND h.key = $5`;
  return `
    SELECT ${runColumns}, ${metricColumns}
    FROM (${runs} WHERE r.org_id = $1${where} ORDER BY ${by} LIMIT $2::bigint OFFSET $3::bigint) r
    JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
    ${metricsOf({ limit: "$4::bigint", fromStart: "true" })}
    ORDER BY ${by}`;
}

/**
 * The statement of a list and its values. Each combination of order and filters has a text of its
 * own, made of the constants above, so that PostgreSQL plans just what is asked.
 */
export function runListStatement(orgId: string, list: RunList): { statement: Statement; values: readonly unknown[] } {
  const order = orderOf(list);
  const values: unknown[] = [orgId, list.limit, list.offset, list.metricKeysMax];
  if (order.metric !== undefined) values.push(list.metricKey);
  const active = FILTERS.filter(({ value }) => value(list) !== undefined);
  const where = active.map(({ value, condition }) => ` AND ${condition(`$${values.push(value(list))}`)}`).join("");
  const shape = [list.sort, order.metric, ...active.map(({ name }) => name)].filter((part) => part !== undefined);
  return { statement: sql(`runs_list_${shape.join("_").replaceAll("-", "_")}`, textOf(order, where)), values };
}

/** One page of runs with their first metric aggregates, in one statement. */
export function listRuns(tx: Tx, orgId: string, list: RunList): Promise<(RunRow & MetricRow)[]> {
  const { statement, values } = runListStatement(orgId, list);
  return tx.rows(statement, values);
}

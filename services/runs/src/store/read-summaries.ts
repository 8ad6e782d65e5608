import { sql, type Tx } from "@tidemark/pg";
import { metricColumns, metricsOf, noMetricColumns, type MetricRow } from "./metric-row.ts";
import { runColumns, type RunRow } from "./run-row.ts";

const chosen = `
  FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, place)
  JOIN runs.runs r ON r.org_id = $1 AND r.id = chosen.id
  JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id`;

const withMetrics = sql(
  "runs_read_summaries",
  `SELECT ${runColumns}, ${metricColumns} ${chosen} ${metricsOf({ limit: "$3::bigint", fromStart: "true" })} ORDER BY chosen.place`,
);

const withoutMetrics = sql(
  "runs_read_selection",
  `SELECT ${runColumns}, ${noMetricColumns} ${chosen} ORDER BY chosen.place`,
);

/** Runs in the order of their ids, each with its first `metricKeysMax` metric aggregates; 0: none. */
export function readSummaries(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  metricKeysMax: number,
): Promise<(RunRow & MetricRow)[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return metricKeysMax === 0
    ? tx.rows(withoutMetrics, [orgId, ids])
    : tx.rows(withMetrics, [orgId, ids, metricKeysMax]);
}

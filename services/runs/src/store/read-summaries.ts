import { sql, type Tx } from "@tidemark/pg";
import { NO_METRICS, type MetricRow } from "../metrics/aggregates.rules.ts";
import { metricColumns, metricsOf } from "../metrics/aggregates.sql.ts";
import { listRunsById } from "./list-runs-by-id.ts";
import { runColumns, type RunRow } from "./run-row.ts";

const readSummariesSql = sql(
  "runs_read_summaries",
  `SELECT ${runColumns}, ${metricColumns}
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, place)
   JOIN runs.runs r ON r.org_id = $1 AND r.id = chosen.id
   JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
   ${metricsOf({ limit: "$3::bigint", fromStart: "true" })}
   ORDER BY chosen.place`,
);

/** Runs in the order of their ids, each with its first `metricKeysMax` metric aggregates; 0: none. */
export async function readSummaries(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  metricKeysMax: number,
): Promise<(RunRow & MetricRow)[]> {
  if (ids.length === 0) return [];
  if (metricKeysMax > 0) return tx.rows(readSummariesSql, [orgId, ids, metricKeysMax]);
  const rows = await listRunsById(tx, orgId, ids, undefined);
  return rows.map((row) => ({ ...row, ...NO_METRICS }));
}

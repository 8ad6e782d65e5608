import { sql, type Tx } from "@tidemark/pg";
import type { MetricRow } from "../metrics/aggregates.rules.ts";
import { metricColumns, metricsOf } from "../metrics/aggregates.sql.ts";
import type { KeyRange } from "../metrics/key-range.rules.ts";
import { runColumns, type RunRow } from "./run-row.ts";

const findRunSummarySql = sql(
  "runs_find_run_summary",
  `SELECT ${runColumns}, ${metricColumns}
   FROM runs.runs r
   JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
   ${metricsOf({
     limit: "$4::bigint",
     matching: `AND k.key COLLATE "C" >= $5 AND ($6::text IS NULL OR k.key COLLATE "C" < $6)`,
     page: `AND k.key COLLATE "C" > $7`,
     fromStart: "$7 = ''",
     isEvery: "$5 = '' AND $6::text IS NULL",
   })}
   WHERE r.org_id = $1 AND r.id = $2 AND ($3::uuid IS NULL OR r.project_id = $3)`,
);

/** One run with a page of its metric aggregates; undefined when it is not in the organization, or not in `projectId`. */
export function findRunSummary(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
  keys: KeyRange & { readonly limit: number },
): Promise<(RunRow & MetricRow) | undefined> {
  const { limit, from, end, after } = keys;
  return tx.one(findRunSummarySql, [orgId, runId, projectId ?? null, limit, from, end ?? null, after]);
}

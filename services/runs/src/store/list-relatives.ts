import { sql, type Tx } from "@tidemark/pg";
import type { MetricRow } from "../metrics/aggregates.rules.ts";
import { metricColumns, metricsOf } from "../metrics/aggregates.sql.ts";
import { runColumns, type RunRow } from "../read/runs.sql.ts";

/** A run of a lineage, with what it is in it. */
export type RelativeRow = RunRow &
  MetricRow & {
    readonly relation: "run" | "parent" | "child";
    /** How many children the run has in all; the same in every row. */
    readonly children_total: number;
  };

const visible = "r.org_id = $1 AND ($3::uuid IS NULL OR r.project_id = $3)";

const listRelativesSql = sql(
  "runs_list_relatives",
  `WITH run AS (
     SELECT r.id, r.parent_run_id FROM runs.runs r WHERE ${visible} AND r.id = $2
   ), relatives AS (
     SELECT 'run' AS relation, 0 AS place, run.id FROM run
     UNION ALL
     SELECT 'parent', 1, r.id FROM run JOIN runs.runs r ON ${visible} AND r.id = run.parent_run_id
     UNION ALL
     SELECT 'child', 2, children.id
     FROM run CROSS JOIN LATERAL (
       SELECT r.id FROM runs.runs r WHERE ${visible} AND r.parent_run_id = run.id
       ORDER BY r.created_at DESC, r.id DESC LIMIT $4::bigint
     ) children
   )
   SELECT ${runColumns}, ${metricColumns}, relatives.relation,
          (SELECT count(*) FROM runs.runs r WHERE ${visible} AND r.parent_run_id = $2) AS children_total
   FROM relatives
   JOIN runs.runs r ON r.org_id = $1 AND r.id = relatives.id
   JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
   ${metricsOf({ limit: "$5::bigint", fromStart: "true" })}
   ORDER BY relatives.place, r.created_at DESC, r.id DESC`,
);

/**
 * A run, then its parent, then its newest children, each with its first metric aggregates, in one
 * statement; empty when the run is not in the organization, or not in `projectId`. Relatives outside
 * `projectId` are left out and not counted.
 */
export function listRelatives(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
  limits: { readonly children: number; readonly metricKeys: number },
): Promise<RelativeRow[]> {
  return tx.rows(listRelativesSql, [orgId, runId, projectId ?? null, limits.children, limits.metricKeys]);
}

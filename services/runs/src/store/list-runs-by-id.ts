import { sql, type Tx } from "@tidemark/pg";
import { runColumns, type RunRow } from "./run-row.ts";

const listRunsByIdSql = sql(
  "runs_list_runs_by_id",
  `SELECT ${runColumns}
   FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, place)
   JOIN runs.runs r ON r.org_id = $1 AND r.id = asked.id AND ($3::uuid IS NULL OR r.project_id = $3)
   JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
   ORDER BY asked.place`,
);

/** Runs without their metrics, in the order of their ids; those that are not in the organization, or not in `projectId`, are missing. */
export function listRunsById(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  projectId: string | undefined,
): Promise<RunRow[]> {
  return tx.rows(listRunsByIdSql, [orgId, runIds, projectId ?? null]);
}

import { sql, type Tx } from "@tidemark/pg";
import { runColumns, type RunRow } from "./run-row.ts";

const findRunSql = sql(
  "runs_find_run",
  `SELECT ${runColumns}
   FROM runs.runs r
   JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
   WHERE r.org_id = $1 AND r.id = $2 AND ($3::uuid IS NULL OR r.project_id = $3)`,
);

/** One run without its metrics; undefined when it is not in the organization, or not in `projectId`. */
export function findRun(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
): Promise<RunRow | undefined> {
  return tx.one(findRunSql, [orgId, runId, projectId ?? null]);
}

import { sql, type Tx } from "@tidemark/pg";
import type { RunImport } from "./export-limits.rules.ts";

const listSql = sql(
  "imports_list_imports_of_runs",
  `SELECT i.job_id AS "jobId", w.id AS "runId"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, ordinal)
   CROSS JOIN LATERAL (SELECT r.job_id FROM imports.job_runs r
                       WHERE r.org_id = $1 AND r.run_id = w.id AND r.outcome IN ('create', 'append')
                       ORDER BY r.job_id DESC LIMIT $3::bigint OFFSET 0) i
   ORDER BY w.ordinal`,
);

/** Returns the newest imports of runs, at most `max` of each run, in the order of the runs. */
export function listImportsOfRuns(tx: Tx, orgId: string, runIds: readonly string[], max: number): Promise<RunImport[]> {
  return tx.rows(listSql, [orgId, runIds, max]);
}

import { organizationRemover, sql, type Tx } from "@tidemark/pg";

const removeRunSql = sql(
  "runs_remove_run",
  `WITH texts AS (
     DELETE FROM runs.run_texts WHERE org_id = $1 AND run_id = $2
   ), signs AS (
     DELETE FROM runs.signs_of_life WHERE org_id = $1 AND run_id = $2
   ), readme AS (
     DELETE FROM runs.readmes WHERE org_id = $1 AND run_id = $2
   ), kept AS (
     DELETE FROM runs.kept_values v USING runs.kept_columns c
     WHERE c.org_id = $1 AND v.org_id = $1 AND v.column_id = c.id AND v.run_id = $2
   ), gone AS (
     DELETE FROM runs.runs WHERE org_id = $1 AND id = $2 AND purge_after = '-infinity' RETURNING project_id
   )
   UPDATE runs.projects p SET runs_deleted = p.runs_deleted - 1 FROM gone g WHERE p.org_id = $1 AND p.id = g.project_id`,
);
const removeProjectSql = sql(
  "runs_remove_project",
  "DELETE FROM runs.projects WHERE org_id = $1 AND id = $2 AND purge_after = '-infinity'",
);

/** Removes a run whose removal has begun, and subtracts it from the counters. Its id stays taken. */
export async function removeRunRow(tx: Tx, orgId: string, runId: string): Promise<void> {
  await tx.count(removeRunSql, [orgId, runId]);
}

/** Removes a project that no longer has runs. */
export async function removeProjectRow(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await tx.count(removeProjectSql, [orgId, projectId]);
}

/** Removes all rows of an organization but the ids of its runs, which stay taken. */
export const removeRowsOfOrganization = organizationRemover("runs", [
  "kept_values",
  "kept_columns",
  "run_texts",
  "signs_of_life",
  "readmes",
  "visibility_changes",
  "runs",
  "projects",
]);

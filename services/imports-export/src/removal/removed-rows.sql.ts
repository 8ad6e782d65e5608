import { organizationRemover, removalSql, sql, type Statement, type Tx } from "@tidemark/pg";

/** The rows that say that a run was imported. Values: the organization and the run. */
export const importedRun: Statement = removalSql(
  "imports_remove_imported_run",
  "imports.imported_runs",
  "org_id = $2 AND run_id = $3",
);

const unlinkRunSql = sql(
  "imports_unlink_run",
  "UPDATE imports.job_runs SET run_id = NULL WHERE org_id = $1 AND run_id = $2",
);

/** Takes a run out of the jobs that made it or added to it. */
export async function unlinkRun(tx: Tx, orgId: string, runId: string): Promise<void> {
  await tx.count(unlinkRunSql, [orgId, runId]);
}

const jobs =
  "org_id = $2 AND job_id = ANY (ARRAY(SELECT j.id FROM imports.jobs j WHERE j.org_id = $2 AND j.project_id = $3))";

/** The jobs of a project with all their rows, which are removed first. Values: the organization and the project. */
export const rowsOfProject: readonly Statement[] = [
  removalSql("imports_remove_chunks_of_project", "imports.chunks", jobs),
  removalSql("imports_remove_job_runs_of_project", "imports.job_runs", jobs),
  removalSql("imports_remove_jobs_of_project", "imports.jobs", "org_id = $2 AND project_id = $3"),
  removalSql("imports_remove_imported_runs_of_project", "imports.imported_runs", "org_id = $2 AND project_id = $3"),
];

/** Removes all rows of an organization. The counters of staged bytes are removed last, because removing chunks and pieces updates them. */
export const removeRowsOfOrganization = organizationRemover("imports", [
  "archive_pieces",
  "archives",
  "chunks",
  "job_runs",
  "jobs",
  "imported_runs",
  "counters",
  "staged",
]);

import { beginRemovals, organizationRemover, sql, type Db, type Tx } from "@tidemark/pg";

const removeRunSql = sql(
  "runs_remove_run",
  `WITH texts AS (
     DELETE FROM runs.run_texts WHERE org_id = $1 AND run_id = $2
   ), signs AS (
     DELETE FROM runs.signs_of_life WHERE org_id = $1 AND run_id = $2
   ), readme AS (
     DELETE FROM runs.readmes WHERE org_id = $1 AND run_id = $2
   ), datasets AS (
     DELETE FROM runs.run_datasets WHERE org_id = $1 AND run_id = $2
   ), models AS (
     DELETE FROM runs.run_models WHERE org_id = $1 AND run_id = $2
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
  "run_datasets",
  "run_models",
  "visibility_changes",
  "moved_runs",
  "run_copies",
  "runs",
  "projects",
  "project_numbers",
]);

/** The other services that keep data of runs and of projects. */
const OTHERS = {
  run: ["ingest", "artifacts", "traces", "imports"],
  project: ["ingest", "artifacts", "traces", "imports", "reports"],
};

const dueRunsSql = sql(
  "runs_due_for_removal",
  `SELECT org_id AS "orgId", project_id AS "projectId", array_agg(id ORDER BY id)::text[] AS ids
   FROM (SELECT org_id, project_id, id FROM runs.runs WHERE purge_after > '-infinity' AND purge_after <= now() ORDER BY purge_after LIMIT $1::bigint) r
   GROUP BY org_id, project_id`,
);

/** Runs of one project that were deleted themselves and whose time is over. */
type DueRuns = { readonly orgId: string; readonly projectId: string; readonly ids: readonly string[] };

/** Returns at most `rowsMax` runs whose time is over and whose removal has not begun, of all organizations. `db` runs as the worker. */
export function listDueRuns(db: Tx, rowsMax: number): Promise<DueRuns[]> {
  return db.rows(dueRunsSql, [rowsMax]);
}

const dueProjectsSql = sql(
  "runs_projects_due_for_removal",
  `SELECT org_id AS "orgId", id AS "projectId" FROM runs.projects WHERE purge_after <= now() AND NOT unsettled ORDER BY purge_after LIMIT 1000`,
);

/** Returns projects whose time is over, of all organizations, as long as they exist. `db` runs as the worker. */
export function listDueProjects(db: Tx): Promise<{ readonly orgId: string; readonly projectId: string }[]> {
  return db.rows(dueProjectsSql, []);
}

// A transaction that restores the run holds its lock, or runs after this one and finds that its time is over.
const beginRunsSql = sql(
  "runs_begin_removal",
  `UPDATE runs.runs SET purge_after = '-infinity'
   WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND purge_after > '-infinity' AND purge_after <= now() RETURNING id`,
);
const beginHiddenSql = sql(
  "runs_begin_removal_with_project",
  `UPDATE runs.runs SET deleted_at = now(), purge_after = '-infinity'
   WHERE org_id = $1 AND id = ANY (ARRAY(
     SELECT o.id FROM runs.runs o WHERE o.org_id = $1 AND o.project_id = $2 AND o.hidden AND o.deleted_at IS NULL
     ORDER BY o.id LIMIT $3::bigint)) AND hidden AND deleted_at IS NULL RETURNING id`,
);
const hurryRunsSql = sql(
  "runs_hurry_removal",
  `UPDATE runs.runs SET purge_after = now()
   WHERE org_id = $1 AND project_id = $2 AND deleted_at IS NOT NULL AND purge_after > now()`,
);
const beginProjectSql = sql(
  "runs_begin_removal_of_project",
  "UPDATE runs.projects SET purge_after = '-infinity' WHERE org_id = $1 AND id = $2 AND purge_after > '-infinity' AND purge_after <= now()",
);
const hasRunsSql = sql("runs_has_runs", "SELECT true FROM runs.runs WHERE org_id = $1 AND project_id = $2 LIMIT 1");

async function begin(tx: Tx, orgId: string, projectId: string, rows: readonly { id: string }[]): Promise<number> {
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0)
    await beginRemovals(tx, { orgId, kind: "run", ids, projectId, owner: "runs", others: OTHERS.run });
  return ids.length;
}

const endCopySql = sql("runs_end_copy", "DELETE FROM runs.run_copies WHERE org_id = $1 AND run_id = $2");

/** Ends a copy that cannot be completed, and begins the removal of what was copied. `db` runs as the worker. */
export async function removeCopy(
  db: Db,
  orgId: string,
  copy: { readonly id: string; readonly projectId: string },
): Promise<void> {
  await db.withTenant(orgId, async (tx) => {
    if ((await tx.count(endCopySql, [orgId, copy.id])) > 0) await begin(tx, orgId, copy.projectId, [copy]);
  });
}

/** Begins the removal of the runs whose time is over, under their locks. `db` runs as the worker. */
export async function beginRemovalOfRuns(db: Db, { orgId, projectId, ids }: DueRuns): Promise<number> {
  return db.withTenant(orgId, async (tx) =>
    begin(tx, orgId, projectId, await tx.rows<{ id: string }>(beginRunsSql, [orgId, ids])),
  );
}

/** Begins the removal of at most `rowsMax` of the runs that were hidden with a project. Returns how many. `db` runs as the worker. */
export async function beginRemovalOfHiddenRuns(
  db: Db,
  orgId: string,
  projectId: string,
  rowsMax: number,
): Promise<number> {
  return db.withTenant(orgId, async (tx) =>
    begin(tx, orgId, projectId, await tx.rows<{ id: string }>(beginHiddenSql, [orgId, projectId, rowsMax])),
  );
}

/** Makes a project whose time is over impossible to restore, and makes the runs due that were deleted in it before. `db` runs as the worker. */
export async function closeProject(db: Db, orgId: string, projectId: string): Promise<void> {
  await db.withTenant(orgId, async (tx) => {
    if ((await tx.count(beginProjectSql, [orgId, projectId])) > 0) await tx.count(hurryRunsSql, [orgId, projectId]);
  });
}

/** Begins the removal of a project that no longer has runs. `db` runs as the worker. */
export async function beginRemovalOfProject(db: Db, orgId: string, projectId: string): Promise<void> {
  await db.withTenant(orgId, async (tx) => {
    if ((await tx.one(hasRunsSql, [orgId, projectId])) !== undefined) return;
    const removal = { orgId, kind: "project", ids: [projectId], projectId: undefined, owner: "runs" } as const;
    await beginRemovals(tx, { ...removal, others: OTHERS.project });
  });
}

import { sql, type Tx } from "@tidemark/pg";
import { projectColumns, type ProjectPage, type ProjectRow } from "../projects/projects.sql.ts";

/** The state that decides whether a run can be deleted or restored. */
export type DeletableRun = {
  readonly projectId: string;
  /** The run itself was deleted. */
  readonly isDeleted: boolean;
  readonly isProjectDeleted: boolean;
  /** It can no longer be restored. */
  readonly isOver: boolean;
};

const lockRunSql = sql(
  "runs_lock_to_delete",
  `SELECT r.project_id AS "projectId", r.deleted_at IS NOT NULL AS "isDeleted", p.deleted_at IS NOT NULL AS "isProjectDeleted",
          coalesce(least(r.purge_after, p.purge_after) <= clock_timestamp(), false) AS "isOver"
   FROM runs.runs r
   CROSS JOIN LATERAL (
     SELECT o.deleted_at, o.purge_after FROM runs.projects o WHERE o.org_id = r.org_id AND o.id = r.project_id OFFSET 0) p
   WHERE r.org_id = $1 AND r.id = $2 FOR UPDATE OF r`,
);

/** Locks a run until the end of the transaction, which sees deleted rows; undefined when the organization does not have it. */
export function lockRunToDelete(tx: Tx, orgId: string, runId: string): Promise<DeletableRun | undefined> {
  return tx.one(lockRunSql, [orgId, runId]);
}

const markRunSql = sql(
  "runs_mark_deleted",
  `UPDATE runs.runs r SET deleted_at = n.at, purge_after = n.at + $3 * interval '1 day'
   FROM (SELECT clock_timestamp() AS at) n WHERE r.org_id = $1 AND r.id = $2`,
);

/** Marks a hidden run as deleted itself, to be removed after `graceDays`. */
export async function markRun(tx: Tx, orgId: string, runId: string, graceDays: number): Promise<void> {
  await tx.count(markRunSql, [orgId, runId, graceDays]);
}

const unmarkRunSql = sql(
  "runs_unmark_deleted",
  "UPDATE runs.runs SET deleted_at = NULL, purge_after = NULL WHERE org_id = $1 AND id = $2",
);

/** Removes the mark of a deleted run; the run stays hidden. */
export async function unmarkRun(tx: Tx, orgId: string, runId: string): Promise<void> {
  await tx.count(unmarkRunSql, [orgId, runId]);
}

const listRunsSql = sql(
  "runs_list_deleted",
  `SELECT r.id FROM runs.runs r
   WHERE r.org_id = $1 AND r.deleted_at IS NOT NULL AND r.purge_after > now() AND ($2::uuid IS NULL OR r.project_id = $2)
     AND ($3::text IS NULL OR r.status = $3) AND ($4::text IS NULL OR r.display_status = $4)
   ORDER BY r.created_at DESC, r.id DESC LIMIT $5::bigint OFFSET $6::bigint`,
);

/** Which deleted runs to list. */
type DeletedPage = {
  readonly projectId: string | undefined;
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly limit: number;
  readonly offset: bigint;
};

/** Returns the ids of runs that were deleted themselves and can be restored, the newest first. The transaction sees deleted rows. */
export async function listDeletedIds(tx: Tx, orgId: string, page: DeletedPage): Promise<string[]> {
  const { projectId, status, displayStatus, limit, offset } = page;
  const values = [orgId, projectId ?? null, status ?? null, displayStatus ?? null, limit, offset];
  return (await tx.rows<{ id: string }>(listRunsSql, values)).map(({ id }) => id);
}

const lockProjectSql = sql(
  "runs_lock_project",
  `SELECT ${projectColumns}, coalesce(purge_after <= clock_timestamp(), false) AS "isOver"
   FROM runs.projects WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);

/** A project that this transaction has locked. */
export type LockedProject = ProjectRow & {
  /** It can no longer be restored. */
  readonly isOver: boolean;
};

/** Locks a project until the transaction ends; undefined when the organization does not have it. */
export function lockProject(tx: Tx, orgId: string, projectId: string): Promise<LockedProject | undefined> {
  return tx.one(lockProjectSql, [orgId, projectId]);
}

const markProjectSql = sql(
  "runs_mark_project_deleted",
  `UPDATE runs.projects p SET deleted_at = n.at, purge_after = n.at + $3 * interval '1 day', unsettled = true
   FROM (SELECT clock_timestamp() AS at) n WHERE p.org_id = $1 AND p.id = $2
   RETURNING ${projectColumns}`,
);

/** Marks a project as deleted, to be removed after `graceDays`; its runs have to be hidden. Returns it. */
export async function markProject(tx: Tx, orgId: string, projectId: string, graceDays: number): Promise<ProjectRow> {
  return (await tx.one<ProjectRow>(markProjectSql, [orgId, projectId, graceDays]))!;
}

const unmarkProjectSql = sql(
  "runs_unmark_project_deleted",
  `UPDATE runs.projects SET deleted_at = NULL, purge_after = NULL, unsettled = true WHERE org_id = $1 AND id = $2
   RETURNING ${projectColumns}`,
);

/** Removes the mark of a deleted project; its runs have to be shown. Returns it. Fails on the unique name while another project has it. */
export async function unmarkProject(tx: Tx, orgId: string, projectId: string): Promise<ProjectRow> {
  return (await tx.one<ProjectRow>(unmarkProjectSql, [orgId, projectId]))!;
}

const listProjectsSql = sql(
  "runs_list_deleted_projects",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND purge_after > now()
   ORDER BY name, deleted_at, id LIMIT $2::bigint OFFSET $3::bigint`,
);
const countProjectsSql = sql(
  "runs_count_deleted_projects",
  "SELECT count(*) AS total FROM runs.projects WHERE org_id = $1 AND purge_after > now()",
);

/** Returns a page of the deleted projects that can be restored, by name, and how many there are. The transaction sees deleted rows. */
export async function listDeletedProjects(
  tx: Tx,
  orgId: string,
  { limit, offset }: ProjectPage,
): Promise<{ rows: ProjectRow[]; total: number }> {
  const rows = await tx.rows<ProjectRow>(listProjectsSql, [orgId, limit, offset]);
  return { rows, total: (await tx.one<{ total: number }>(countProjectsSql, [orgId]))!.total };
}

const recordTransferSql = sql(
  "runs_record_transfer",
  `SELECT control.record_audit_v1(platform.org_id(), $1, $2, $3, 'project', $4, $5, u.runs, u.from_project)
   FROM unnest($6::integer[], $7::uuid[]) AS u (runs, from_project)`,
);

/**
 * Adds that runs were moved or copied to a project to the audit log of the organization of the transaction, in the transaction that does it: an event
 * for each project that they were in, with the number of runs.
 */
export async function insertTransferAudit(
  tx: Tx,
  actor: { readonly type: string; readonly id: string },
  event: {
    readonly action: "run.moved" | "run.copied";
    readonly toProject: string;
    readonly fromProjects: ReadonlyMap<string, number>;
    readonly requestId: string;
  },
): Promise<void> {
  const { action, toProject, fromProjects, requestId } = event;
  if (fromProjects.size === 0) return;
  const values = [
    actor.type,
    actor.id,
    action,
    toProject,
    requestId,
    [...fromProjects.values()],
    [...fromProjects.keys()],
  ];
  await tx.rows(recordTransferSql, values);
}

const recordAuditSql = sql(
  "runs_record_audit",
  "SELECT control.record_audit_v1(platform.org_id(), $1, $2, $3, $4, $5, $6)",
);

/** The recorded actions on projects and runs. */
export type AuditAction = "project.deleted" | "project.renamed" | "project.restored" | "run.deleted" | "run.restored";

/** Adds an event to the audit log of the organization of the transaction, in the transaction of the change. */
export async function insertAudit(
  tx: Tx,
  actor: { readonly type: string; readonly id: string },
  event: { readonly action: AuditAction; readonly id: string; readonly requestId: string },
): Promise<void> {
  const { action, id, requestId } = event;
  await tx.rows(recordAuditSql, [actor.type, actor.id, action, action.split(".")[0], id, requestId]);
}

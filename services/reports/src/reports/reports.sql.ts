import { sql, type Tx } from "@tidemark/pg";
import { keepSeeing } from "../deletion/deleted-projects.sql.ts";
import type { StoredBlocks } from "./report.rules.ts";

/** A report as the statements return it: instants are RFC 3339 texts, blocks a JSON text. */
export type ReportRow = {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string | null;
  readonly title: string;
  readonly description: string | null;
  readonly visibility: string;
  readonly authorUserId: string | null;
  readonly shareId: string | null;
  readonly shareIssuedAt: string | null;
  /** What the share token opens: blocks or data. */
  readonly shareExtent: string | null;
  /** The data are those of the moment when it was shared. */
  readonly shareFrozen: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt: string | null;
  readonly blocks: string;
};

/** Select list of a `ReportRow` except its blocks, over `reports.reports r`. */
export const reportColumns = `r.id, r.org_id AS "orgId", r.project_id AS "projectId", r.title, r.description, r.visibility,
  r.author_user_id AS "authorUserId", r.share_id AS "shareId", r.share_issued_at AS "shareIssuedAt",
  r.share_extent AS "shareExtent", r.share_frozen AS "shareFrozen", r.created_at AS "createdAt",
  r.updated_at AS "updatedAt", r.deleted_at AS "deletedAt"`;

/** Joins the blocks of a report `r`. */
export const withBlocks = `CROSS JOIN LATERAL (
  SELECT f.blocks FROM reports.documents f WHERE f.org_id = $1 AND f.report_id = r.id OFFSET 0) d`;

// With the other condition in addition, an index of reports that are not deleted could look as good as the primary key.
const findSql = sql(
  "reports_find",
  `SELECT ${reportColumns}, d.blocks FROM (SELECT f.* FROM reports.reports f WHERE f.org_id = $1 AND f.id = $2 OFFSET 0) r ${withBlocks}
   WHERE r.deleted_at IS NULL`,
);

/** Returns the report with this id, if the organization has it and it is not deleted. */
export function findReport(tx: Tx, orgId: string, reportId: string): Promise<ReportRow | undefined> {
  return tx.one(findSql, [orgId, reportId]);
}

const lockSql = sql(
  "reports_lock",
  `SELECT org_id AS "orgId", project_id AS "projectId", share_extent AS "shareExtent", deleted_at AS "deletedAt", ${keepSeeing}
   FROM reports.reports
   WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);

/** Whose a report is, and what its share token opens. */
export type LockedReport = Pick<ReportRow, "orgId" | "projectId" | "shareExtent">;

/** Locks a report, and returns its owner; undefined where it is deleted. */
export async function lockReport(tx: Tx, orgId: string, reportId: string): Promise<LockedReport | undefined> {
  const row = await tx.one<LockedReport & { deletedAt: string | null }>(lockSql, [orgId, reportId]);
  return row?.deletedAt === null ? row : undefined;
}

/** A report that is to be written, without its blocks. */
export type NewReport = {
  readonly id: string;
  readonly projectId: string | null;
  readonly title: string;
  readonly description: string | null;
  readonly visibility: string;
  readonly authorUserId: string | null;
};

const insertSql = sql(
  "reports_insert",
  `INSERT INTO reports.reports
     (org_id, id, project_id, title, description, visibility, author_user_id, block_count, panel_count, panel_bytes)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const insertBlocksSql = sql(
  "reports_insert_blocks",
  "INSERT INTO reports.documents (org_id, report_id, blocks, panels, panel_indexes) VALUES ($1, $2, $3, $4, $5)",
);

/** Inserts a report with its blocks. */
export async function insertReport(tx: Tx, orgId: string, report: NewReport, stored: StoredBlocks): Promise<void> {
  const { id, projectId, title, description, visibility, authorUserId } = report;
  const { blocks, blockCount, panels, panelIndexes, panelBytes } = stored;
  const counts = [blockCount, panels.length, panelBytes];
  await tx.count(insertSql, [orgId, id, projectId, title, description, visibility, authorUserId, ...counts]);
  await tx.count(insertBlocksSql, [orgId, id, blocks, panels, panelIndexes]);
}

/** The changes to a report; undefined fields stay unchanged. */
export type ReportChange = {
  readonly title: string | undefined;
  /** Null: none. */
  readonly description: string | null | undefined;
  readonly visibility: string | undefined;
  readonly stored: StoredBlocks | undefined;
};

// Later than before also where the clock was set back, so that no client mistakes a changed report for the one it knows.
const LATER = "greatest(clock_timestamp(), updated_at + interval '1 microsecond')";

const updateSql = sql(
  "reports_update",
  `UPDATE reports.reports SET title = coalesce($3, title), description = CASE WHEN $4::boolean THEN $5 ELSE description END,
     visibility = coalesce($6, visibility), block_count = coalesce($7, block_count), panel_count = coalesce($8, panel_count),
     panel_bytes = coalesce($9, panel_bytes), updated_at = ${LATER}
   WHERE org_id = $1 AND id = $2`,
);
const updateBlocksSql = sql(
  "reports_update_blocks",
  "UPDATE reports.documents SET blocks = $3, panels = $4, panel_indexes = $5 WHERE org_id = $1 AND report_id = $2",
);

/** Changes a report that is locked. */
export async function changeReport(tx: Tx, orgId: string, reportId: string, change: ReportChange): Promise<void> {
  const { title, description, visibility, stored } = change;
  await tx.count(updateSql, [
    orgId,
    reportId,
    title ?? null,
    description !== undefined,
    description ?? null,
    visibility ?? null,
    stored?.blockCount ?? null,
    stored?.panels.length ?? null,
    stored?.panelBytes ?? null,
  ]);
  if (stored === undefined) return;
  await tx.count(updateBlocksSql, [orgId, reportId, stored.blocks, stored.panels, stored.panelIndexes]);
}

// Its blocks and shared data are removed, because they can no longer be read.
const deleteSql = sql(
  "reports_delete",
  `WITH blocks AS (DELETE FROM reports.documents WHERE org_id = $1 AND report_id = $2),
     frozen AS (DELETE FROM reports.shared_data WHERE org_id = $1 AND report_id = $2)
   UPDATE reports.reports r SET deleted_at = clock_timestamp() WHERE r.org_id = $1 AND r.id = $2 RETURNING r.deleted_at AS "deletedAt"`,
);

/** Marks a report that is locked as deleted, and returns when that was. */
export async function markDeleted(tx: Tx, orgId: string, reportId: string): Promise<string> {
  const row = await tx.one<{ deletedAt: string }>(deleteSql, [orgId, reportId]);
  return row!.deletedAt;
}

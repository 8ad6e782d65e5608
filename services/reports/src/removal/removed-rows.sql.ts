import { organizationRemover, removalSql, sql, type Statement, type Tx } from "@tidemark/pg";
import { seeDeleted } from "../deletion/deleted-projects.sql.ts";

const takeReportsSql = sql(
  "reports_remove_reports_of_project",
  `WITH gone AS (
     DELETE FROM reports.reports WHERE org_id = $1 AND project_id = $2 RETURNING id, deleted_at
   ), documents AS (
     DELETE FROM reports.documents d USING gone g WHERE d.org_id = $1 AND d.report_id = g.id
   ), frozen AS (
     DELETE FROM reports.shared_data s USING gone g WHERE s.org_id = $1 AND s.report_id = g.id
   ), counts AS (
     DELETE FROM reports.report_counts WHERE org_id = $1 AND project_id = $2
   )
   UPDATE reports.report_counts c SET reports = c.reports - (SELECT count(*) FROM gone g WHERE g.deleted_at IS NULL)
   WHERE c.org_id = $1 AND c.project_id = '00000000-0000-0000-0000-000000000000'`,
);

/** Removes the reports of a project, including deleted ones, and subtracts them from the counts. */
export async function removeReportsOf(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await seeDeleted(tx);
  await tx.count(takeReportsSql, [orgId, projectId]);
}

// Views and preferences name a project as people wrote it: by its id, or by its name, which another project may have by now.
const named = `SELECT n.name FROM (VALUES ($2::uuid::text), ((SELECT p.name FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.id = $2::uuid))) AS n (name)
  WHERE n.name IS NOT NULL
    AND NOT EXISTS (SELECT FROM runs.project_refs_v1 o WHERE o.org_id = $1 AND o.name = n.name AND o.id <> $2::uuid)`;
const takeViewsSql = sql(
  "reports_remove_views_of_project",
  `WITH gone AS (
     DELETE FROM reports.views v WHERE v.org_id = $1 AND v.project IN (${named}) RETURNING v.owner_user_id, v.deleted_at
   ), counted AS (
     SELECT u.owner, count(*) AS views FROM gone g
     CROSS JOIN LATERAL (VALUES (g.owner_user_id), ('00000000-0000-0000-0000-000000000000'::uuid)) AS u (owner)
     WHERE g.deleted_at IS NULL GROUP BY u.owner
   ), selected AS (
     UPDATE reports.preferences p SET selected_project = NULL WHERE p.org_id = $1 AND p.selected_project IN (${named})
   )
   UPDATE reports.view_counts c SET views = c.views - k.views FROM counted k WHERE c.org_id = $1 AND c.owner_user_id = k.owner`,
);

/** Removes the views of a deleted project, subtracts them from the counts, and removes the project from preferences. */
export async function removeViewsOf(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await seeDeleted(tx);
  await tx.count(takeViewsSql, [orgId, projectId]);
}

/** Embed sessions of keys of a project. Values: the organization and the project. */
export const embedsOfProject: Statement = removalSql(
  "reports_remove_embeds_of_project",
  "reports.embed_sessions",
  "org_id = $2 AND project_id = $3",
);

/** Removes all rows of an organization. */
export const removeRowsOfOrganization = organizationRemover(
  "reports",
  [
    "documents",
    "shared_data",
    "reports",
    "report_counts",
    "views",
    "view_counts",
    "preferences",
    "embed_sessions",
    "embed_turns",
  ],
  seeDeleted,
);

import { sql, type Tx } from "@tidemark/pg";
import type { PanelSource, PanelStart } from "./report.rules.ts";

/** A report of a list. */
export type ReportSummaryRow = {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly projectId: string | null;
  readonly visibility: string;
  readonly hasShareToken: boolean;
  readonly authorUserId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly blockCount: number;
};

// The newest of an organization and those of a project are walks of different indexes, each with its own order.
const listSql = (name: string, owned: string, updatedAt: string) =>
  sql(
    name,
    `SELECT r.id, r.title, r.description, r.project_id AS "projectId", r.visibility,
            r.share_id IS NOT NULL AND ($4::bigint = 0 OR r.share_issued_at > now() - $4::bigint * interval '1 second') AS "hasShareToken",
            r.author_user_id AS "authorUserId", r.created_at AS "createdAt", r.updated_at AS "updatedAt", r.block_count AS "blockCount"
     FROM reports.reports r WHERE r.org_id = $1 AND r.deleted_at IS NULL AND ${owned}
     ORDER BY ${updatedAt} DESC, r.title, r.id LIMIT $2::bigint OFFSET $3::bigint`,
  );
const listAllSql = listSql("reports_list", "$5::uuid IS NULL", "(r.updated_at AT TIME ZONE 'UTC')");
const listOfProjectSql = listSql("reports_list_of_project", "r.project_id = $5", "r.updated_at");

/** Returns a page of reports, of a project or of the whole organization, the last changed ones first. */
export function listReportRows(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  page: { readonly limit: number; readonly offset: number },
  shareTtlSeconds: number,
): Promise<ReportSummaryRow[]> {
  const statement = projectId === undefined ? listAllSql : listOfProjectSql;
  return tx.rows(statement, [orgId, page.limit, page.offset, shareTtlSeconds, projectId ?? null]);
}

const findProjectSql = sql(
  "reports_find_project",
  "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);

/** Returns the id of the project with this name, if there is one. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProjectSql, [orgId, name]))?.id;
}

/** Used instead of a project id: the whole organization. */
const ALL = "00000000-0000-0000-0000-000000000000";

const countOf = (project: string) =>
  `(SELECT o.reports FROM reports.report_counts o WHERE o.org_id = $1 AND o.project_id = ${project})`;
const readAllSql = sql(
  "reports_read_count",
  `SELECT coalesce(${countOf(`'${ALL}'`)}, 0)
          - coalesce((SELECT sum(h.reports)::bigint FROM runs.deleted_projects_v1($1) AS d (id)
                      CROSS JOIN LATERAL (SELECT ${countOf("d.id")} AS reports OFFSET 0) h), 0) AS reports`,
);
const readOfProjectSql = sql(
  "reports_read_count_of_project",
  `SELECT CASE WHEN NOT runs.is_deleted_project_v1($1, $2) THEN ${countOf("$2")} END AS reports`,
);

/** Returns how many reports an organization has, or one of its projects, without those of deleted projects. */
export async function countReports(tx: Tx, orgId: string, projectId: string | undefined): Promise<number> {
  const [statement, values] = projectId === undefined ? [readAllSql, [orgId]] : [readOfProjectSql, [orgId, projectId]];
  return (await tx.one<{ reports: number | null }>(statement, values))?.reports ?? 0;
}

const addSql = sql(
  "reports_count_one_more",
  `INSERT INTO reports.report_counts AS c (org_id, project_id, reports) VALUES ($1, $2, 1)
   ON CONFLICT (org_id, project_id) DO UPDATE SET reports = c.reports + 1`,
);
const takeSql = sql(
  "reports_count_one_less",
  "UPDATE reports.report_counts SET reports = reports - 1 WHERE org_id = $1 AND project_id = $2",
);

/** Counts a report that was made (1) or deleted (-1). Call it last in the transaction: other writers of the organization wait from here to its end. */
export async function countReport(tx: Tx, orgId: string, projectId: string | null, change: 1 | -1): Promise<void> {
  const statement = change === 1 ? addSql : takeSql;
  await tx.count(statement, [orgId, ALL]);
  if (projectId !== null) await tx.count(statement, [orgId, projectId]);
}

// Reports of an organization and of a project are walks of different indexes, each with its own order.
const sourcesSql = (name: string, owned: string, createdAt: string, start: string) =>
  sql(
    name,
    `SELECT r.id, r.created_at AS "createdAt", r.panel_count AS "panelCount", r.panel_bytes AS "panelBytes"
     FROM reports.reports r WHERE r.org_id = $1 AND r.deleted_at IS NULL AND r.panel_count > 0 AND ${owned} AND ${start}
     ORDER BY ${createdAt} DESC, r.id DESC LIMIT $2::bigint`,
  );
const OF_ORGANIZATION = ["$3::uuid IS NULL", "(r.created_at AT TIME ZONE 'UTC')"] as const;
// Conditions on the values alone are checked once, before the walk.
const OF_PROJECT = ["r.project_id = $3 AND NOT runs.is_deleted_project_v1($1, $3)", "r.created_at"] as const;
const FIRST = "$4::timestamptz IS NULL AND $5::uuid IS NULL";
const firstSql = sourcesSql("reports_panel_sources", ...OF_ORGANIZATION, FIRST);
const nextSql = sourcesSql(
  "reports_next_panel_sources",
  ...OF_ORGANIZATION,
  "((r.created_at AT TIME ZONE 'UTC'), r.id) <= ($4::timestamptz AT TIME ZONE 'UTC', $5::uuid)",
);
const firstOfProjectSql = sourcesSql("reports_panel_sources_of_project", ...OF_PROJECT, FIRST);
const nextOfProjectSql = sourcesSql(
  "reports_next_panel_sources_of_project",
  ...OF_PROJECT,
  "(r.created_at, r.id) <= ($4::timestamptz, $5::uuid)",
);

/** Returns reports with panels, newest first, from a report on. */
export function listPanelSources(
  tx: Tx,
  orgId: string,
  { projectId, start, limit }: { projectId: string | undefined; start: PanelStart | undefined; limit: number },
): Promise<PanelSource[]> {
  const values = [orgId, limit, projectId ?? null, start?.createdAt ?? null, start?.id ?? null];
  if (projectId === undefined) return tx.rows(start === undefined ? firstSql : nextSql, values);
  return tx.rows(start === undefined ? firstOfProjectSql : nextOfProjectSql, values);
}

/** Panels of a report: JSON texts, and the place of each in its grid. */
type PanelsRow = {
  readonly title: string;
  readonly panels: readonly string[];
  readonly indexes: readonly number[];
};

const readSql = sql(
  "reports_read_panels",
  `SELECT r.title, d.panels, d.indexes
   FROM unnest($2::uuid[], $3::integer[], $4::integer[]) WITH ORDINALITY AS w (id, first, last, place)
   CROSS JOIN LATERAL (SELECT f.title FROM reports.reports f WHERE f.org_id = $1 AND f.id = w.id OFFSET 0) r
   CROSS JOIN LATERAL (
     SELECT f.panels[w.first:w.last] AS panels, f.panel_indexes[w.first:w.last] AS indexes FROM reports.documents f
     WHERE f.org_id = $1 AND f.report_id = w.id OFFSET 0) d
   ORDER BY w.place`,
);

/** Returns panels of reports in the given order, for each report from `from` (counted from 0) to before `to`. */
export function readPanels(
  tx: Tx,
  orgId: string,
  wanted: readonly { readonly id: string; readonly from: number; readonly to: number }[],
): Promise<PanelsRow[]> {
  // Arrays count from 1.
  const places = [wanted.map(({ id }) => id), wanted.map(({ from }) => from + 1), wanted.map(({ to }) => to)];
  return tx.rows(readSql, [orgId, ...places]);
}

import { sql, type Tx } from "@tidemark/pg";

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

const findProjectSql = sql(
  "reports_find_project",
  "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);

/** Returns the id of the project with this name, if there is one. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProjectSql, [orgId, name]))?.id;
}

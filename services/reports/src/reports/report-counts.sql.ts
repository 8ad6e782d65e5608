import { sql, type Tx } from "@tidemark/pg";

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

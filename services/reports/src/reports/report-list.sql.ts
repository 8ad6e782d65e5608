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

import { sql, type Tx } from "@tidemark/pg";
import { reportColumns, withBlocks, type ReportRow } from "./reports.sql.ts";

/** Reports have at most a megabyte each. */
const REPORTS_TOGETHER = 4;

const listReports = sql(
  "reports_export_reports",
  `SELECT ${reportColumns}, d.blocks
   FROM (SELECT f.* FROM reports.reports f
         WHERE f.org_id = $1 AND f.project_id = $2 AND f.deleted_at IS NULL
           AND (f.updated_at, f.title, f.id) > ($3::timestamptz, $4, $5::uuid)
         ORDER BY f.updated_at, f.title, f.id LIMIT ${REPORTS_TOGETHER}) r ${withBlocks}
   ORDER BY r.updated_at, r.title, r.id`,
);

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Reads the reports of a project, the last changed ones last. */
export async function* readReportsOfProject(
  tx: Tx,
  orgId: string,
  projectId: string,
): AsyncGenerator<ReportRow, void, undefined> {
  let after = ["-infinity", "", FIRST_ID];
  for (;;) {
    const rows = await tx.rows<ReportRow>(listReports, [orgId, projectId, ...after]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.updatedAt, last.title, last.id];
  }
}

import { sql, uuidArray, type Tx } from "@tidemark/pg";
import { reportColumns, withBlocks, type NewReport, type ReportRow } from "./reports.sql.ts";
import type { StoredBlocks } from "./report.rules.ts";

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

const takenIn = (table: "reports" | "views") =>
  sql(
    `reports_find_taken_${table}`,
    `SELECT w.id FROM unnest($2::uuid[]) AS w (id)
     CROSS JOIN LATERAL (SELECT FROM reports.${table} o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) o`,
  );
const statements = new Map([
  ["report", takenIn("reports")],
  ["view", takenIn("views")],
]);

/** Returns whether rows of a type have ids that may be taken. */
export function hasIds(type: string): boolean {
  return statements.has(type);
}

/** Returns the ids that rows of a type have in the organization. */
export async function findTakenIds(tx: Tx, orgId: string, type: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(statements.get(type)!, [orgId, uuidArray([...ids])]);
  return rows.map(({ id }) => id);
}

/** When a row was created and changed: RFC 3339 texts. */
export type Times = { readonly createdAt: string; readonly updatedAt: string };

const insertReportSql = sql(
  "reports_restore_report",
  `WITH made AS (
     INSERT INTO reports.reports
       (org_id, id, project_id, title, description, visibility, author_user_id, block_count, panel_count, panel_bytes, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (org_id, id) DO NOTHING RETURNING id
   )
   INSERT INTO reports.documents (org_id, report_id, blocks, panels, panel_indexes) SELECT $1, made.id, $13, $14, $15 FROM made`,
);

/** Inserts a report with its blocks unless its id is taken. Returns whether it did. */
export async function insertRestoredReport(
  tx: Tx,
  orgId: string,
  report: NewReport & Times,
  stored: StoredBlocks,
): Promise<boolean> {
  const { id, projectId, title, description, visibility, authorUserId, createdAt, updatedAt } = report;
  const { blocks, blockCount, panels, panelIndexes, panelBytes } = stored;
  const made = await tx.count(insertReportSql, [
    orgId,
    id,
    projectId,
    title,
    description,
    visibility,
    authorUserId,
    blockCount,
    panels.length,
    panelBytes,
    createdAt,
    updatedAt,
    blocks,
    panels,
    panelIndexes,
  ]);
  return made === 1;
}

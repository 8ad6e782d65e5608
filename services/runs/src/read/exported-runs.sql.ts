import { sql, type Tx } from "@tidemark/pg";
import { bytesOfReadme } from "../readme/readmes.sql.ts";
import { projectOfRun, runColumns, type RunRow } from "./runs.sql.ts";

/** Bytes of documents that one statement returns, in addition to those of one run at most. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_ROWS = 100;

/** A run of an export: the oldest first, so that forks come after their parents. */
type Place = { readonly createdAt: string; readonly id: string };

const listOfProject = sql(
  "runs_export_of_project",
  `SELECT ${runColumns}
   FROM (SELECT f.id, sum(f.bytes) OVER (ORDER BY f.created_at, f.id) - f.bytes AS before
         FROM (SELECT o.id, o.created_at, octet_length(o.config) + octet_length(o.metadata) + ${bytesOfReadme("o")} AS bytes FROM runs.runs o
               WHERE o.org_id = $1 AND o.project_id = $2 AND (o.created_at, o.id) > ($3::timestamptz, $4::uuid)
               ORDER BY o.created_at, o.id LIMIT ${PAGE_ROWS}) f) w
   CROSS JOIN LATERAL (SELECT o.* FROM runs.runs o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) r
   ${projectOfRun}
   WHERE w.before < ${PAGE_BYTES} ORDER BY r.created_at, r.id`,
);

/** Reads all runs of a project, the oldest first. */
export async function* readRunsOfProject(
  tx: Tx,
  orgId: string,
  projectId: string,
): AsyncGenerator<RunRow[], void, undefined> {
  let after: Place = { createdAt: "-infinity", id: "00000000-0000-0000-0000-000000000000" };
  for (;;) {
    const rows = await tx.rows<RunRow>(listOfProject, [orgId, projectId, after.createdAt, after.id]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = { createdAt: last.created_at, id: last.id };
  }
}

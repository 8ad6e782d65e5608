import { sql, type Tx } from "@tidemark/pg";
import { artifactColumns, type ArtifactRow } from "../plain/artifacts.sql.ts";

/** Artifacts have some kilobytes each, at most 16 KB of metadata. */
const PAGE_ROWS = 200;

const listOfRun = sql(
  "artifacts_export_artifacts",
  `SELECT ${artifactColumns} FROM artifacts.artifacts a
   WHERE a.org_id = $1 AND a.run_id = $2 AND (a.created_at, a.id) > ($3::timestamptz, $4::uuid)
   ORDER BY a.created_at, a.id LIMIT ${PAGE_ROWS}`,
);

/** Reads the plain artifacts of a run, the oldest first. */
export async function* readArtifactsOfRun(
  tx: Tx,
  orgId: string,
  runId: string,
): AsyncGenerator<ArtifactRow[], void, undefined> {
  let after = ["-infinity", "00000000-0000-0000-0000-000000000000"];
  for (;;) {
    const rows = await tx.rows<ArtifactRow>(listOfRun, [orgId, runId, ...after]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = [last.createdAt, last.id];
  }
}

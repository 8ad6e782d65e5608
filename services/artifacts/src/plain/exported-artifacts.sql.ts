import { sql, type ReadPage } from "@tidemark/pg";
import { artifactColumns, type ArtifactRow } from "./artifacts.sql.ts";

/** Artifacts have some kilobytes each, at most 16 KB of metadata. */
const PAGE_ROWS = 200;

const page = (name: string, after: "<" | ">", direction: "ASC" | "DESC") =>
  sql(
    name,
    `SELECT ${artifactColumns} FROM artifacts.artifacts a
   WHERE a.org_id = $1 AND a.run_id = $2 AND (a.created_at, a.id) ${after} ($3::timestamptz, $4::uuid)
   ORDER BY a.created_at ${direction}, a.id ${direction} LIMIT ${PAGE_ROWS}`,
  );

const orders = {
  oldest: {
    statement: page("artifacts_export_oldest_artifacts", ">", "ASC"),
    first: ["-infinity", "00000000-0000-0000-0000-000000000000"],
  },
  newest: {
    statement: page("artifacts_export_newest_artifacts", "<", "DESC"),
    first: ["infinity", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  },
} as const;

/** Reads the plain artifacts of a run, the oldest or the newest first. */
export async function* readArtifactsOfRun(
  read: ReadPage,
  orgId: string,
  runId: string,
  order: keyof typeof orders,
): AsyncGenerator<ArtifactRow[], void, undefined> {
  const { statement, first } = orders[order];
  for (let after: readonly string[] = first; ;) {
    const rows = await read((tx) => tx.rows<ArtifactRow>(statement, [orgId, runId, ...after]));
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    const last = rows.at(-1)!;
    after = [last.createdAt, last.id];
  }
}

import { type ReadPage, sql, type Tx, uuidArray } from "@tidemark/pg";
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

// Rows of an archive come to PostgreSQL as JSON lists, because a restore writes any of their columns.
const insertArtifactsSql = sql(
  "artifacts_restore_artifacts",
  `INSERT INTO artifacts.artifacts AS a (org_id, id, run_id, project_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata,
                                         created_at)
   SELECT $1, r.id, r.run_id, r.project_id, r.type, r.name, r.uri, r.step, r.size_bytes, r.sha256, r.mime_type, r.storage_backend, r.metadata, r.created_at
   FROM json_to_recordset($2::json) AS r (id uuid, run_id uuid, project_id uuid, type text, name text, uri text, step float8, size_bytes bigint,
                                          sha256 text, mime_type text, storage_backend text, metadata text, created_at timestamptz)
   ON CONFLICT (org_id, id) DO NOTHING RETURNING a.id, a.run_id AS "runId", a.type, a.size_bytes AS "sizeBytes"`,
);

/** An artifact in the form of an archive. */
export type RestoredArtifact = {
  readonly id: string;
  readonly run_id: string;
  readonly project_id: string;
  readonly type: string;
  readonly name: string;
  readonly uri: string;
  readonly step: number | undefined;
  readonly size_bytes: number | undefined;
  readonly sha256: string | undefined;
  readonly mime_type: string;
  readonly storage_backend: string;
  readonly metadata: string;
  readonly created_at: string;
};

/** A restored artifact. */
type MadeArtifact = {
  readonly id: string;
  readonly runId: string;
  readonly type: "checkpoint" | "rollout" | "file";
  readonly sizeBytes: number | null;
};

/** Stores artifacts whose ids are free, and returns these. The caller updates their counters. */
export function insertRestoredArtifacts(
  tx: Tx,
  orgId: string,
  rows: readonly RestoredArtifact[],
): Promise<MadeArtifact[]> {
  return tx.rows(insertArtifactsSql, [orgId, JSON.stringify(rows)]);
}

const takenIn = (table: string) =>
  sql(
    `artifacts_find_taken_${table}`,
    `SELECT w.id FROM unnest($2::uuid[]) AS w (id)
     CROSS JOIN LATERAL (SELECT FROM artifacts.${table} o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) o`,
  );

const statements = new Map([
  ["artifact", takenIn("artifacts")],
  ["collection", takenIn("collections")],
  ["version", takenIn("versions")],
  ["entry", takenIn("entries")],
  ["edge", takenIn("edges")],
]);

/** Returns whether rows of a type have ids that may be taken. */
export function hasIds(type: string): boolean {
  return statements.has(type);
}

/** Returns those ids that rows of a type have in the organization. */
export async function findTakenIds(tx: Tx, orgId: string, type: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(statements.get(type)!, [orgId, uuidArray([...ids])]);
  return rows.map(({ id }) => id);
}

import { sql, type Tx } from "@tidemark/pg";
import { ofVisibleRun } from "../runs/run-refs.sql.ts";
import { artifactColumns, type ArtifactRow } from "./artifacts.sql.ts";

// Names sort by their bytes. The names in a folder are between those that begin with it and `/`, and with it and `0`, the next character. Each step of a
// walk is one look into the index on names: it goes on behind a file with all its artifacts, and behind all of a folder.
const walkSql = sql(
  "artifacts_walk_folder",
  `WITH RECURSIVE steps AS (
     SELECT 0 AS step, $3::text COLLATE "C" AS next, NULL::text COLLATE "C" AS child, false AS is_folder, NULL::uuid AS object_id, NULL::bigint AS size_bytes
     UNION ALL
     SELECT s.step + 1, $5::text || c.child || CASE WHEN c.is_folder THEN '0' ELSE E'\\x01' END, c.child, c.is_folder, c.object_id, c.size_bytes
     FROM steps s
     CROSS JOIN LATERAL (
       SELECT a.name, a.object_id, a.size_bytes FROM artifacts.artifacts a
       WHERE a.org_id = $1 AND a.run_id = $2 AND a.name >= s.next AND a.name < $4
       ORDER BY a.name, a.created_at DESC, a.id DESC LIMIT 1
     ) a
     CROSS JOIN LATERAL (
       SELECT split_part(substr(a.name, length($5::text) + 1), '/', 1) AS child, strpos(substr(a.name, length($5::text) + 1), '/') > 0 AS is_folder,
              a.object_id, a.size_bytes
     ) c
     WHERE s.step < $6::bigint
   )
   SELECT child AS name, is_folder AS "isFolder", object_id AS "objectId", size_bytes AS "sizeBytes", next FROM steps WHERE step > 0 ORDER BY step`,
);

/** A file or a folder in a folder. */
export type FolderRow = {
  /** Without the folder. */
  readonly name: string;
  readonly isFolder: boolean;
  /** Of the newest artifact of a file. */
  readonly objectId: string | null;
  readonly sizeBytes: number | null;
  /** Where the walk goes on. */
  readonly next: string;
};

/** More than any name, which has at most 512 bytes. */
const NAME_END = "\u{10FFFF}".repeat(129);

/** Names from the first one on, without the second one. */
type Span = readonly [from: string, to: string];

/** Returns the span of what is in a folder; of all where it is the root. */
export function spanOfFolder(folder: string): Span {
  return folder === "" ? ["", NAME_END] : [`${folder}/`, `${folder}0`];
}

/**
 * Returns the span of one name. With it, a statement that walks names can only use the index on them; for a name that is equal, those of the run would do as
 * well, and read all of its artifacts.
 */
export function spanOfName(name: string): Span {
  return [name, `${name}\u0001`];
}

/** Returns what is directly in a folder of a run, by name, from where a walk goes on or from the beginning. */
export function walkFolder(
  tx: Tx,
  orgId: string,
  runId: string,
  { folder, next, limit }: { readonly folder: string; readonly next: string | undefined; readonly limit: number },
): Promise<FolderRow[]> {
  const [from, to] = spanOfFolder(folder);
  return tx.rows(walkSql, [orgId, runId, next ?? from, to, from, limit]);
}

const findSql = sql(
  "artifacts_find_file",
  `SELECT ${artifactColumns} FROM artifacts.artifacts a ${ofVisibleRun("a.run_id")}
   WHERE a.org_id = $1 AND a.run_id = $2 AND a.name >= $3 AND a.name < $4 ORDER BY a.name, a.created_at DESC, a.id DESC LIMIT 1`,
);

/** Returns the newest artifact of a name of a run, in a transaction that walks. */
export function findFile(tx: Tx, orgId: string, runId: string, name: string): Promise<ArtifactRow | undefined> {
  return tx.one(findSql, [orgId, runId, ...spanOfName(name)]);
}

const lockSql = sql(
  "artifacts_lock_name",
  "SELECT pg_advisory_xact_lock(hashtextextended('artifacts.name ' || $1 || $2 || $3, 0))",
);

/** Lets the transactions that replace the artifacts of a name of a run follow one another. */
export async function lockName(tx: Tx, orgId: string, runId: string, name: string): Promise<void> {
  await tx.rows(lockSql, [orgId, runId, name]);
}

const takeBetweenSql = sql(
  "artifacts_take_artifacts_between",
  `DELETE FROM artifacts.artifacts a USING (
     SELECT o.org_id, o.id FROM artifacts.artifacts o WHERE o.org_id = $1 AND o.run_id = $2 AND o.name >= $3 AND o.name < $4
     ORDER BY o.name, o.created_at DESC, o.id DESC LIMIT $5::bigint FOR UPDATE
   ) taken
   WHERE a.org_id = taken.org_id AND a.id = taken.id
     AND EXISTS (SELECT FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND f.id = $2 OFFSET 0)
   RETURNING ${artifactColumns}`,
);

/** Deletes artifacts of a run whose names are in a span, at most `rowsMax`, in a transaction that walks, and returns them. */
export function takeArtifactsBetween(
  tx: Tx,
  orgId: string,
  runId: string,
  span: Span,
  rowsMax: number,
): Promise<ArtifactRow[]> {
  return tx.rows(takeBetweenSql, [orgId, runId, ...span, rowsMax]);
}

import { sql, type Tx } from "@tidemark/pg";

/** Names an archive. */
export type ArchiveName = { readonly orgId: string; readonly id: string };

/** An archive that is arriving, or has arrived. */
export type ArchiveRow = ArchiveName & {
  readonly status: "receiving" | "restoring" | "restored" | "failed";
  readonly pieces: number;
  readonly warnings: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly errorPosition: number | null;
};

const columns = `a.org_id AS "orgId", a.id, a.status, a.pieces, a.warnings,
  a.error_code AS "errorCode", a.error_message AS "errorMessage", a.error_position AS "errorPosition"`;

const insertSql = sql(
  "imports_begin_archive",
  `INSERT INTO imports.archives (org_id, key_hash, identity) VALUES ($1, $2, $3)
   ON CONFLICT (org_id, key_hash) WHERE key_hash IS NOT NULL DO UPDATE SET updated_at = clock_timestamp()
   RETURNING id, status = 'restored' AS "isRestored", identity AS sender`,
);

/** An archive that is begun, or was before; `sender` is the packed identity of the caller who sent it first, or sent its last piece. */
export type BegunArchive = { readonly id: string; readonly isRestored: boolean; readonly sender: Uint8Array };

/** Returns the archive of a key, begun if there is none; a new one for no key. */
export async function beginArchiveRow(
  tx: Tx,
  orgId: string,
  keyHash: Uint8Array | null,
  identity: Uint8Array,
): Promise<BegunArchive> {
  return (await tx.one<BegunArchive>(insertSql, [orgId, keyHash, identity]))!;
}

const stagedSql = sql(
  "imports_sum_staged_bytes",
  "SELECT coalesce(sum(a.staged_bytes), 0)::bigint AS bytes FROM imports.archives a WHERE a.org_id = $1 AND a.status <> 'restored'",
);

/** Returns how many bytes all archives of an organization have staged. */
export async function sumStagedBytes(tx: Tx, orgId: string): Promise<number> {
  return (await tx.one<{ bytes: number }>(stagedSql, [orgId]))!.bytes;
}

const findSql = sql(
  "imports_find_archive",
  `SELECT ${columns} FROM imports.archives a WHERE a.org_id = $1 AND a.id = $2`,
);
const lockSql = sql(
  "imports_lock_archive",
  `SELECT ${columns} FROM imports.archives a WHERE a.org_id = $1 AND a.id = $2 FOR UPDATE`,
);

/** Returns an archive of the organization. */
export function findArchive(tx: Tx, { orgId, id }: ArchiveName): Promise<ArchiveRow | undefined> {
  return tx.one(findSql, [orgId, id]);
}

/** Returns an archive, locked until the end of the transaction. */
export function lockArchive(tx: Tx, { orgId, id }: ArchiveName): Promise<ArchiveRow | undefined> {
  return tx.one(lockSql, [orgId, id]);
}

/** A staged piece. */
export type PieceRow = {
  readonly number: number;
  readonly firstLine: number;
  readonly lines: number;
  readonly contentHash: Uint8Array;
  readonly isPart: boolean;
};

const pieceColumns = `p.number, p.first_line AS "firstLine", p.lines, p.content_hash AS "contentHash", p.is_part AS "isPart"`;

const findPieceSql = sql(
  "imports_find_piece",
  `SELECT ${pieceColumns}, CASE WHEN p.is_part THEN p.content END AS part
   FROM imports.archive_pieces p WHERE p.org_id = $1 AND p.archive_id = $2 AND p.number = $3`,
);

/** Returns a piece, with its content if it is a part. */
export function findPiece(
  tx: Tx,
  { orgId, id }: ArchiveName,
  number: number,
): Promise<(PieceRow & { readonly part: Uint8Array | null }) | undefined> {
  return tx.one(findPieceSql, [orgId, id, number]);
}

const putPieceSql = sql(
  "imports_put_piece",
  `INSERT INTO imports.archive_pieces AS p (org_id, archive_id, number, first_line, lines, content_hash, is_part, content, facts)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   ON CONFLICT (org_id, archive_id, number) DO UPDATE SET first_line = excluded.first_line, lines = excluded.lines,
     content_hash = excluded.content_hash, is_part = excluded.is_part, content = excluded.content, facts = excluded.facts`,
);
const countPieceSql = sql(
  "imports_count_piece",
  `UPDATE imports.archives a SET pieces = a.pieces + $3, staged_bytes = a.staged_bytes + $4, updated_at = clock_timestamp(),
     status = CASE WHEN $5 THEN 'restoring' ELSE a.status END, identity = CASE WHEN $5 THEN $6 ELSE a.identity END
   WHERE a.org_id = $1 AND a.id = $2`,
);

/** Keeps a piece of an archive that this transaction has locked, in place of a part of it. The last one lets workers restore the archive. */
export async function putPieceRow(
  tx: Tx,
  { orgId, id }: ArchiveName,
  piece: PieceRow & { readonly content: Uint8Array; readonly facts: Uint8Array | null; readonly bytes: number },
  last: { readonly isLast: boolean; readonly identity: Uint8Array },
): Promise<void> {
  const { number, firstLine, lines, contentHash, isPart, content, facts, bytes } = piece;
  await tx.rows(putPieceSql, [orgId, id, number, firstLine, lines, contentHash, isPart, content, facts]);
  await tx.rows(countPieceSql, [orgId, id, isPart ? 0 : 1, isPart ? 0 : bytes, last.isLast, last.identity]);
}

const listFactsSql = sql(
  "imports_list_facts",
  `SELECT p.facts FROM imports.archive_pieces p WHERE p.org_id = $1 AND p.archive_id = $2 AND NOT p.is_part ORDER BY p.number`,
);

/** Returns the packed facts of all whole pieces, in their order. */
export async function listFacts(tx: Tx, { orgId, id }: ArchiveName): Promise<Uint8Array[]> {
  return (await tx.rows<{ facts: Uint8Array | null }>(listFactsSql, [orgId, id])).map(({ facts }) => facts!);
}

const lastFactsSql = sql(
  "imports_find_last_facts",
  `SELECT p.facts FROM imports.archive_pieces p WHERE p.org_id = $1 AND p.archive_id = $2 AND NOT p.is_part ORDER BY p.number DESC LIMIT 1`,
);

/** Returns the packed facts of the last whole piece; undefined where there is none. */
export async function findLastFacts(tx: Tx, { orgId, id }: ArchiveName): Promise<Uint8Array | undefined> {
  return (await tx.one<{ facts: Uint8Array | null }>(lastFactsSql, [orgId, id]))?.facts ?? undefined;
}

const loadPieceSql = sql(
  "imports_load_piece",
  `SELECT p.content, p.first_line AS "firstLine" FROM imports.archive_pieces p WHERE p.org_id = $1 AND p.archive_id = $2 AND p.number = $3`,
);

/** Returns the packed content of a piece. @throws Error when it is gone */
export async function loadPiece(
  tx: Tx,
  { orgId, id }: ArchiveName,
  number: number,
): Promise<{ readonly content: Uint8Array; readonly firstLine: number }> {
  const row = await tx.one<{ content: Uint8Array | null; firstLine: number }>(loadPieceSql, [orgId, id, number]);
  if (row === undefined || row.content === null) throw new Error(`piece ${number} of an archive is gone`);
  return { content: row.content, firstLine: row.firstLine };
}

const removePiecesSql = sql(
  "imports_remove_pieces",
  "DELETE FROM imports.archive_pieces WHERE org_id = $1 AND archive_id = $2",
);
const removeUnnamedSql = sql(
  "imports_remove_unnamed_archive",
  "DELETE FROM imports.archives WHERE org_id = $1 AND id = $2 AND key_hash IS NULL AND status = 'receiving'",
);
const removeArchiveSql = sql("imports_remove_archive", "DELETE FROM imports.archives WHERE org_id = $1 AND id = $2");

/** Removes an archive and all its staged content. */
export async function removeArchive(tx: Tx, { orgId, id }: ArchiveName): Promise<void> {
  await tx.rows(removePiecesSql, [orgId, id]);
  await tx.rows(removeArchiveSql, [orgId, id]);
}

/** Removes an archive that was sent without a key, which no client can resume. */
export async function removeUnnamed(tx: Tx, { orgId, id }: ArchiveName): Promise<void> {
  if ((await tx.count(removeUnnamedSql, [orgId, id])) === 1) await tx.rows(removePiecesSql, [orgId, id]);
}

const listOldSql = sql(
  "imports_list_old_archives",
  `SELECT org_id AS "orgId", id FROM imports.archives
   WHERE status <> 'restoring' AND updated_at < now() - make_interval(hours => $1) ORDER BY updated_at LIMIT $2::bigint`,
);

/** Returns archives of all organizations that have been idle for some hours. `tx` has the worker's role. */
export function listOldArchives(tx: Tx, hours: number, max: number): Promise<ArchiveName[]> {
  return tx.rows(listOldSql, [hours, max]);
}

const answerSql = sql("imports_read_answer", "SELECT answer FROM imports.archives WHERE org_id = $1 AND id = $2");

/** Returns the packed answer of an archive that is restored. */
export async function readAnswer(tx: Tx, { orgId, id }: ArchiveName): Promise<Uint8Array> {
  return (await tx.one<{ answer: Uint8Array | null }>(answerSql, [orgId, id]))!.answer!;
}

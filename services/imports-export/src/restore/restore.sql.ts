import { sql, type Tx } from "@tidemark/pg";
import type { JobFault } from "../jobs/job.rules.ts";
import type { ArchiveName, ArchiveRow } from "./archives.sql.ts";

/** An archive that this process restores: every process that does so later has a higher fence. */
export type HeldArchive = ArchiveName &
  Pick<ArchiveRow, "pieces" | "warnings"> & {
    readonly piecesDone: number;
    readonly fence: number;
    readonly identity: Uint8Array;
    /** Packed; null until they are decided. */
    readonly ids: Uint8Array | null;
  };

const holdSql = sql(
  "imports_hold_archive",
  `UPDATE imports.archives a SET fence = a.fence + 1, leased_until = clock_timestamp() + make_interval(secs => $3)
   WHERE a.org_id = $1 AND a.id = $2 AND a.status = 'restoring' AND a.leased_until < clock_timestamp()
   RETURNING a.org_id AS "orgId", a.id, a.pieces, a.pieces_done AS "piecesDone", a.fence, a.warnings, a.identity, a.ids`,
);

/** Takes the lease of a restore; undefined when there is nothing to do or another process has it. */
export function holdArchive(tx: Tx, { orgId, id }: ArchiveName, seconds: number): Promise<HeldArchive | undefined> {
  return tx.one(holdSql, [orgId, id, seconds]);
}

const ofHolder = "a.org_id = $1 AND a.id = $2 AND a.fence = $3 AND a.status = 'restoring'";

/** Of the holder of a lease. */
export type ArchiveHold = Pick<HeldArchive, "orgId" | "id" | "fence">;

const renewSql = sql(
  "imports_renew_archive_lease",
  `UPDATE imports.archives a SET leased_until = clock_timestamp() + make_interval(secs => $4) WHERE ${ofHolder}`,
);

/** Renews a lease, or ends it with 0 seconds. False: another process has it. */
export async function renewArchiveLease(tx: Tx, { orgId, id, fence }: ArchiveHold, seconds: number): Promise<boolean> {
  return (await tx.count(renewSql, [orgId, id, fence, seconds])) === 1;
}

const keepIdsSql = sql(
  "imports_keep_archive_ids",
  `UPDATE imports.archives a SET ids = $4, warnings = $5, updated_at = clock_timestamp() WHERE ${ofHolder}`,
);

/** Keeps which rows get other ids. False: another process has the lease. */
export async function keepIds(
  tx: Tx,
  { orgId, id, fence }: ArchiveHold,
  ids: Uint8Array,
  warnings: readonly string[],
): Promise<boolean> {
  return (await tx.count(keepIdsSql, [orgId, id, fence, ids, JSON.stringify(warnings)])) === 1;
}

const markSql = sql(
  "imports_mark_piece",
  `UPDATE imports.archives a SET pieces_done = $4, warnings = (a.warnings::jsonb || $5::jsonb)::text,
     leased_until = clock_timestamp() + make_interval(secs => $6), updated_at = clock_timestamp()
   WHERE ${ofHolder} AND a.pieces_done = $4 - 1`,
);

/** Marks the piece with this number, counted from 1, as restored. False: another process has the lease. */
export async function markPiece(
  tx: Tx,
  { orgId, id, fence }: ArchiveHold,
  piece: number,
  warnings: readonly string[],
  leaseSeconds: number,
): Promise<boolean> {
  return (await tx.count(markSql, [orgId, id, fence, piece, JSON.stringify(warnings), leaseSeconds])) === 1;
}

const emptySql = sql(
  "imports_empty_pieces",
  "UPDATE imports.archive_pieces SET content = NULL, facts = NULL WHERE org_id = $1 AND archive_id = $2",
);
const finishSql = sql(
  "imports_finish_archive",
  `UPDATE imports.archives a SET status = 'restored', answer = $4, ids = NULL, updated_at = clock_timestamp() WHERE ${ofHolder}`,
);

/** Ends a restore with its packed answer, and removes the staged content except the hashes. False: another process has the lease. */
export async function finishArchive(tx: Tx, { orgId, id, fence }: ArchiveHold, answer: Uint8Array): Promise<boolean> {
  if ((await tx.count(finishSql, [orgId, id, fence, answer])) !== 1) return false;
  await tx.rows(emptySql, [orgId, id]);
  return true;
}

const failSql = sql(
  "imports_fail_archive",
  `UPDATE imports.archives a SET status = 'failed', key_hash = NULL, error_code = $4, error_message = $5, error_position = $6,
     updated_at = clock_timestamp()
   WHERE ${ofHolder}`,
);
const dropSql = sql("imports_drop_pieces", "DELETE FROM imports.archive_pieces WHERE org_id = $1 AND archive_id = $2");

/** Ends an impossible restore, and removes the staged content: its key may be used again. Returns whether this process still held it. */
export async function failArchive(tx: Tx, { orgId, id, fence }: ArchiveHold, fault: JobFault): Promise<boolean> {
  if ((await tx.count(failSql, [orgId, id, fence, fault.code, fault.message, fault.position])) !== 1) return false;
  await tx.rows(dropSql, [orgId, id]);
  return true;
}

const listDueSql = sql(
  "imports_list_due_archives",
  `SELECT d.org_id AS "orgId", d.id
   FROM (SELECT DISTINCT ON (a.org_id) a.org_id, a.id, a.leased_until FROM imports.archives a
         WHERE a.status = 'restoring' AND a.leased_until < now() ORDER BY a.org_id, a.leased_until, a.id) d
   ORDER BY d.leased_until LIMIT $1::bigint`,
);

/** Returns restores that no process works on, one of each organization. `tx` has the worker's role. */
export function listDueArchives(tx: Tx, max: number): Promise<ArchiveName[]> {
  return tx.rows(listDueSql, [max]);
}

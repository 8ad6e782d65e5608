import type { ShareExtent } from "@tidemark/limits";
import { sql, type Tx } from "@tidemark/pg";

const storeSql = sql(
  "reports_store_share",
  `WITH old AS (DELETE FROM reports.shared_data WHERE org_id = $1 AND report_id = $2 AND NOT $6::boolean)
   UPDATE reports.reports SET share_id = $3, share_hash = $4, share_issued_at = clock_timestamp(), share_extent = $5, share_frozen = $6
   WHERE org_id = $1 AND id = $2`,
);
const freezeSql = sql(
  "reports_freeze_data",
  `INSERT INTO reports.shared_data AS s (org_id, report_id, data) VALUES ($1, $2, $3)
   ON CONFLICT (org_id, report_id) DO UPDATE SET data = excluded.data`,
);

/** A share token that was just issued, and what it opens. */
type NewShare = {
  readonly id: string;
  readonly hash: Uint8Array;
  readonly extent: ShareExtent;
  /** JSON; undefined: not frozen. */
  readonly frozen: string | undefined;
};

/** Replaces the share token of a report, and the data that are kept with it. */
export async function storeShare(tx: Tx, orgId: string, reportId: string, share: NewShare): Promise<void> {
  const { id, hash, extent, frozen } = share;
  await tx.count(storeSql, [orgId, reportId, id, Buffer.from(hash), extent, frozen !== undefined]);
  if (frozen !== undefined) await tx.count(freezeSql, [orgId, reportId, frozen]);
}

const endSql = sql(
  "reports_end_share",
  `WITH old AS (DELETE FROM reports.shared_data WHERE org_id = $1 AND report_id = $2)
   UPDATE reports.reports SET share_id = NULL, share_hash = NULL, share_issued_at = NULL, share_extent = NULL, share_frozen = false
   WHERE org_id = $1 AND id = $2 AND share_id IS NOT NULL`,
);

/** Removes the share token of a report, and the data that are kept with it. Returns whether there was one. */
export async function removeShare(tx: Tx, orgId: string, reportId: string): Promise<boolean> {
  return (await tx.count(endSql, [orgId, reportId])) > 0;
}

const readFrozenSql = sql(
  "reports_read_frozen",
  "SELECT s.data FROM reports.shared_data s WHERE s.org_id = $1 AND s.report_id = $2",
);

/** Returns the data that are kept with the share token of a report, as JSON. */
export async function readFrozen(tx: Tx, orgId: string, reportId: string): Promise<string | undefined> {
  return (await tx.one<{ data: string }>(readFrozenSql, [orgId, reportId]))?.data;
}

/** A report that has a share token with a requested id. */
type SharedRef = {
  readonly orgId: string;
  readonly id: string;
  readonly hash: Uint8Array;
  /** RFC 3339. */
  readonly issuedAt: string;
};

const findSharedSql = sql(
  "reports_find_shared",
  `SELECT org_id AS "orgId", id, hash, issued_at AS "issuedAt" FROM reports.find_shared($1)`,
);

/** Returns the report whose share token has this id, in any organization. Nothing of it may be revealed before the hashes are compared. */
export function findShared(db: Tx, shareId: string): Promise<SharedRef | undefined> {
  return db.one(findSharedSql, [shareId]);
}

const findPublicSql = sql("reports_find_public", `SELECT org_id AS "orgId" FROM reports.find_public($1)`);

/** Returns the organization of a public report. */
export async function findPublic(db: Tx, reportId: string): Promise<string | undefined> {
  return (await db.one<{ orgId: string }>(findPublicSql, [reportId]))?.orgId;
}

/** The current rights of a credential. */
type CallerRights = { role: string; scopes: string[]; project_id: string | null };

const lockSql = sql("reports_lock_caller", "SELECT role, scopes, project_id FROM control.lock_caller_v1($1, $2, $3)");

/** Reads the rights of a credential of the organization, by the id in its text; they stay until the transaction ends. Undefined for one that has ended. */
export function lockCallerRights(
  tx: Tx,
  orgId: string,
  type: "session" | "api_key",
  credentialId: string,
): Promise<CallerRights | undefined> {
  return tx.one(lockSql, [orgId, type, credentialId]);
}

const recordSql = sql(
  "reports_record_share",
  "SELECT control.record_audit_v1(platform.org_id(), $1, $2, $5, 'report', $3, $4)",
);

/** What is done to the share token of a report. */
type ShareAction = "report.shared" | "report.data_shared" | "report.share_ended";

/** Adds what was done to a share token to the audit log of the organization of the transaction, in the transaction that does it. */
export async function recordShare(
  tx: Tx,
  actor: { readonly type: string; readonly id: string },
  share: { readonly action: ShareAction; readonly reportId: string; readonly requestId: string },
): Promise<void> {
  await tx.rows(recordSql, [actor.type, actor.id, share.reportId, share.requestId, share.action]);
}

import { sql, type Tx } from "@tidemark/pg";

const storeSql = sql(
  "reports_store_share",
  `UPDATE reports.reports SET share_id = $3, share_hash = $4, share_issued_at = clock_timestamp() WHERE org_id = $1 AND id = $2`,
);

/** Replaces the id and the hash of a report's share token. */
export async function storeShare(
  tx: Tx,
  orgId: string,
  reportId: string,
  { id, hash }: { readonly id: string; readonly hash: Uint8Array },
): Promise<void> {
  await tx.count(storeSql, [orgId, reportId, id, Buffer.from(hash)]);
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
  "SELECT control.record_audit_v1(platform.org_id(), $1, $2, 'report.shared', 'report', $3, $4)",
);

/** Adds to the audit log of the organization of the transaction that a report was shared, in the transaction that does it. */
export async function recordShare(
  tx: Tx,
  actor: { readonly type: string; readonly id: string },
  share: { readonly reportId: string; readonly requestId: string },
): Promise<void> {
  await tx.rows(recordSql, [actor.type, actor.id, share.reportId, share.requestId]);
}

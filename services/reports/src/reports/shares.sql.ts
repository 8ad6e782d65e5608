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
export type SharedRef = {
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

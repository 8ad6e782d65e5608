import { sql, type Tx } from "@tidemark/pg";

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

import { sql, type Tx } from "@tidemark/pg";

const recordSql = sql("runs_record_audit", "SELECT control.record_audit_v1(platform.org_id(), $1, $2, $3, $4, $5, $6)");

/** The recorded actions on projects and runs. */
export type AuditAction = "project.deleted" | "project.renamed" | "project.restored" | "run.deleted" | "run.restored";

/** Adds an event to the audit log of the organization of the transaction, in the transaction of the change. */
export async function insertAudit(
  tx: Tx,
  actor: { readonly type: string; readonly id: string },
  event: { readonly action: AuditAction; readonly id: string; readonly requestId: string },
): Promise<void> {
  const { action, id, requestId } = event;
  await tx.rows(recordSql, [actor.type, actor.id, action, action.split(".")[0], id, requestId]);
}

import type { Tx } from "@tidemark/pg";
import { auditActor } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { insertAudit, type AuditAction } from "./audit.sql.ts";

/** Adds a caller's action on a run or a project to the audit log of the transaction's organization, in the transaction of the change. */
export function recordAudit(tx: Tx, call: Call, action: AuditAction, id: string): Promise<void> {
  return insertAudit(tx, auditActor(call), { action, id, requestId: call.requestId });
}

import type { Tx } from "@tidemark/pg";
import { auditActor } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { insertAudit, type AuditAction } from "./audit.sql.ts";

/** Adds to the audit log of the organization of the transaction what a caller did to a run or a project, in the transaction of the change. */
export function recordAudit(tx: Tx, call: Call, action: AuditAction, id: string): Promise<void> {
  return insertAudit(tx, auditActor(call), { action, id, requestId: call.requestId });
}

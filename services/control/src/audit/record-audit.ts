import type { Tx } from "@tidemark/pg";
import { auditActor } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { insertAudit } from "./audit.sql.ts";

/** What may have been done. */
export type AuditAction =
  | "api_key.created"
  | "api_key.revoked"
  | "device_login.confirmed"
  | "invitation.resent"
  | "invitation.revoked"
  | "member.changed"
  | "member.invited"
  | "member.joined"
  | "member.removed"
  | "organization.changed"
  | "organization.created"
  | "organization.deleted"
  | "organization.restored"
  | "session.ended";

/** What was done, and to what. */
export type AuditedChange = {
  readonly orgId: string;
  readonly action: AuditAction;
  readonly target: { readonly type: string; readonly id: string };
  /** Who did it, where that is not the caller: somebody who signs in has no identity yet. */
  readonly userId?: string;
  /** The same of a key, by the id in its text. */
  readonly keyId?: string;
};

/**
 * Adds an event to the audit log of an organization, in the transaction of the change, which has entered the organization. One call for each change that
 * took place; what changed nothing is no event.
 */
export function recordAudit(tx: Tx, call: Pick<Call, "identity" | "requestId">, change: AuditedChange): Promise<void> {
  const { orgId, action, target } = change;
  const actor = actorOf(call, change);
  return insertAudit(tx, {
    org_id: orgId,
    actor_type: actor.type,
    actor_id: actor.id,
    action,
    target_type: target.type,
    target_id: target.id,
    request_id: call.requestId,
  });
}

function actorOf(call: Pick<Call, "identity">, { userId, keyId }: AuditedChange): ReturnType<typeof auditActor> {
  if (userId !== undefined) return { type: "user", id: userId };
  return keyId === undefined ? auditActor(call) : { type: "api_key", id: keyId };
}

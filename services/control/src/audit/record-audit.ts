import type { Tx } from "@tidemark/pg";
import { auditActor } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { insertAudit } from "./audit.sql.ts";

/** The actions that are recorded. */
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

/** An action and its target. */
export type AuditedChange = {
  readonly orgId: string;
  readonly action: AuditAction;
  readonly target: { readonly type: string; readonly id: string };
  /** The user who did it, if not the caller: a user who is signing in has no identity yet. */
  readonly userId?: string;
  /** The key that did it, by the id in its text. */
  readonly keyId?: string;
};

/**
 * Adds an event to the audit log of an organization, in the transaction of the change, which has entered the organization. Called once for each change that
 * took place; a request that changed nothing is not an event.
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

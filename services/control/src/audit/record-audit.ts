import type { Tx } from "@tidemark/pg";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { insertAudit, type NewAudit } from "./audit.sql.ts";

/** What may have been done. */
export type AuditAction =
  | "api_key.created"
  | "api_key.revoked"
  | "device_login.confirmed"
  | "member.changed"
  | "member.invited"
  | "member.joined"
  | "member.removed"
  | "organization.changed"
  | "organization.created"
  | "session.ended";

/** What was done, and to what. */
export type AuditedChange = {
  readonly orgId: string;
  readonly action: AuditAction;
  readonly target: { readonly type: string; readonly id: string };
  /** Who did it, where that is not the caller: somebody who signs in has no identity yet. */
  readonly userId?: string;
};

/**
 * Adds an event to the audit log of an organization, in the transaction of the change, which has entered the organization. One call for each change that
 * took place; what changed nothing is no event.
 */
export function recordAudit(tx: Tx, call: Pick<Call, "identity" | "requestId">, change: AuditedChange): Promise<void> {
  const { orgId, action, target, userId } = change;
  const actor = userId === undefined ? actorOf(call) : ({ actor_type: "user", actor_id: userId } as const);
  return insertAudit(tx, {
    org_id: orgId,
    ...actor,
    action,
    target_type: target.type,
    target_id: target.id,
    request_id: call.requestId,
  });
}

function actorOf({ identity }: Pick<Call, "identity">): Pick<NewAudit, "actor_type" | "actor_id"> {
  if (identity?.kind === CallerKind.SESSION) return { actor_type: "user", actor_id: identity.userId };
  if (identity?.kind === CallerKind.API_KEY) return { actor_type: "api_key", actor_id: identity.credentialId };
  return { actor_type: "operator", actor_id: "" };
}

import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";

/** Returns the actor of an entry in the audit log, as `control.record_audit_v1` takes it: a key by the id in its text. */
export function auditActor({ identity }: Pick<Call, "identity">): {
  readonly type: "user" | "api_key" | "operator";
  readonly id: string;
} {
  if (identity?.kind === CallerKind.SESSION) return { type: "user", id: identity.userId };
  if (identity?.kind === CallerKind.API_KEY) return { type: "api_key", id: identity.credentialId };
  return { type: "operator", id: "" };
}

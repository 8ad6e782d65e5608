import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";
import { lockCallerRights } from "./caller.sql.ts";

/**
 * Requires that a caller may still do what it could when the request began, until the transaction ends: a gateway's copy of its credential may be a second
 * old, or ten, and a credential that has ended must not leave a link behind.
 * @throws unauthenticated, forbidden
 */
export async function lockSameCaller(tx: Tx, identity: Identity): Promise<void> {
  const { orgId, kind, credentialId, role, scopes, projectId } = identity;
  const isSession = kind === CallerKind.SESSION;
  const now = await lockCallerRights(tx, orgId, isSession ? "session" : "api_key", credentialId);
  if (now === undefined) throw new AppError("unauthenticated", "invalid or expired credentials");
  const isSame = isSession
    ? now.role === role
    : (now.project_id ?? "") === projectId && new Set(now.scopes).symmetricDifference(new Set(scopes)).size === 0;
  if (!isSame) throw new AppError("forbidden", "the rights of this credential have changed; try again");
}

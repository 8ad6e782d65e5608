import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { NewSessionSchema } from "@tidemark/proto/control/v1/control";
import { enterOrganization } from "../store/enter-organization.ts";
import { revokeSession } from "../store/revoke-session.ts";
import type { SignedIn } from "./caller.ts";
import { announceChange } from "./commit-projection-change.ts";
import type { ControlDeps } from "./deps.ts";
import { openSession } from "./open-session.ts";

/**
 * Ends the caller's session and opens one in another organization. A new session instead of a changed
 * one: no process can take it for what it was. The transaction is in the new organization afterwards.
 * @throws unauthenticated when the caller's session has ended
 */
export async function tradeSession(
  tx: Tx,
  deps: ControlDeps,
  caller: SignedIn,
  orgId: string,
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  await enterOrganization(tx, caller.orgId);
  // A process that has not heard of its end yet may still let an ended session in; it opens nothing any more.
  const alive = await revokeSession(tx, caller.orgId, caller.credentialId, deps.now());
  if (!alive) throw new AppError("unauthenticated", "the session has ended");
  await enterOrganization(tx, orgId);
  const created = await openSession(tx, deps, { orgId, userId: caller.userId });
  await announceChange(tx, orgId);
  return created;
}

import { AppError } from "@tidemark/errors";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callerOf, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";

/** A signed-in user in an organization, and their role there. */
export type Owner = { readonly orgId: string; readonly userId: string; readonly role: string; readonly caller: Caller };

/**
 * Returns the owner of the preferences or views that a call is about.
 * @throws unauthenticated unless a session calls, forbidden for a session without a user, such as one made from an API key
 */
export function ownerOf(call: Call): Owner {
  const caller = callerOf(call);
  if (caller.kind !== CallerKind.SESSION) throw new AppError("unauthenticated", "this route needs a signed-in session");
  const userId = call.identity?.userId ?? "";
  if (userId === "") throw new AppError("forbidden", "this route needs a session of a user");
  return { orgId: caller.orgId, userId, role: call.identity?.role ?? "", caller };
}

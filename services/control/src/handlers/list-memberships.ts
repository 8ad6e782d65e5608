import { listMembershipsOfUser } from "../store/list-memberships-of-user.ts";
import { requireSession } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeMembershipSummaries } from "./encode-organization.ts";

/** @throws unauthenticated */
export function listMemberships({ db }: ControlDeps): ControlHandlers["listMemberships"] {
  return async (_, call) => {
    const { userId, orgId } = requireSession(call);
    return { memberships: encodeMembershipSummaries(await listMembershipsOfUser(db, userId), orgId) };
  };
}

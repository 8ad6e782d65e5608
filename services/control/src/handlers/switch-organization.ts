import { AppError } from "@tidemark/errors";
import { findSession } from "../store/find-session.ts";
import { listMembershipsOfUser } from "../store/list-memberships-of-user.ts";
import { requireSession, type SignedIn } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { tradeSession } from "./trade-session.ts";
import { viewSession } from "./view-session.ts";

/**
 * Where the caller is already, their session stays.
 * @throws unauthenticated; forbidden for an organization that the user is no active member of, whether or not it exists
 */
export function switchOrganization(deps: ControlDeps): ControlHandlers["switchOrganization"] {
  return async (request, call) => {
    const caller = requireSession(call);
    const orgId = request.orgId.toLowerCase();
    if (orgId === caller.orgId) return { created: { view: await ownView(deps, caller) } };
    const created = await deps.db.transaction(async (tx) => {
      const memberships = await listMembershipsOfUser(tx, caller.userId);
      if (!memberships.some((row) => row.org_id === orgId && row.status === "active")) {
        throw new AppError("forbidden", "the user is no active member of that organization");
      }
      return tradeSession(tx, deps, caller, orgId);
    });
    deps.nudge();
    return { created };
  };
}

async function ownView({ db }: ControlDeps, { orgId, credentialId }: SignedIn) {
  const view = await db.withTenant(orgId, async (tx) => {
    const session = await findSession(tx, orgId, credentialId);
    return session === undefined || session.revoked_at !== null ? undefined : viewSession(tx, session);
  });
  if (view === undefined) throw new AppError("unauthenticated", "the session has ended");
  return view;
}

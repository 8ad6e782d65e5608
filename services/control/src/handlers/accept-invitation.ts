import { AppError } from "@tidemark/errors";
import { findUser } from "../store/find-user.ts";
import { requireSession } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { joinByInvitation } from "./join-by-invitation.ts";
import { tradeSession } from "./trade-session.ts";

/** @throws unauthenticated, and what joining by invitation throws */
export function acceptInvitation(deps: ControlDeps): ControlHandlers["acceptInvitation"] {
  return async ({ token }, call) => {
    const caller = requireSession(call);
    const created = await deps.db.transaction(async (tx) => {
      const user = await findUser(tx, caller.userId);
      if (user === undefined) throw new AppError("unauthenticated", "the session has ended");
      const { orgId } = await joinByInvitation(tx, deps, user, token);
      return tradeSession(tx, deps, caller, orgId);
    });
    deps.nudge();
    return { created };
  };
}

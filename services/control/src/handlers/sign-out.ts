import { revokeSession } from "../store/revoke-session.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { readSessionToken } from "./read-session-token.ts";

/** Ends the session behind the cookie; a cookie without one is no error. */
export function signOut(deps: ControlDeps): ControlHandlers["signOut"] {
  return async ({ token }) => {
    const found = await readSessionToken(deps.db, token, deps.now());
    if (found !== undefined) {
      await commitProjectionChange(deps, found.org_id, (tx) => revokeSession(tx, found.org_id, found.id, deps.now()));
    }
    return {};
  };
}

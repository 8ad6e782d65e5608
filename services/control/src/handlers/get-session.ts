import { findSession } from "../store/find-session.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { readSessionToken } from "./read-session-token.ts";
import { viewSession } from "./view-session.ts";

/** Who is signed in; nobody is no error. */
export function getSession({ db, now }: ControlDeps): ControlHandlers["getSession"] {
  return async ({ token }) => {
    const found = await readSessionToken(db, token, now());
    if (found === undefined) return {};
    const view = await db.withTenant(found.org_id, async (tx) => {
      const session = await findSession(tx, found.org_id, found.id);
      return session === undefined ? undefined : viewSession(tx, session);
    });
    return view === undefined ? {} : { view };
  };
}

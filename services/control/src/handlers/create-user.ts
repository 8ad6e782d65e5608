import { readEmail } from "../domain/emails.ts";
import { upsertUser } from "../store/upsert-user.ts";
import { requireOperator } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeUser } from "./encode-organization.ts";

/** @throws unauthenticated; bad_request for an address that is none */
export function createUser({ db, newId, now }: ControlDeps): ControlHandlers["createUser"] {
  return async ({ email, displayName, avatarUrl }, call) => {
    requireOperator(call);
    const user = await upsertUser(db, { id: newId(), email: readEmail(email), displayName, avatarUrl, now: now() });
    return { user: encodeUser(user) };
  };
}

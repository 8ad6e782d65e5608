import { AppError } from "@tidemark/errors";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { commitProjectionChange } from "../projection/commit-projection-change.ts";
import { findLiveCredential } from "../projection/live-credential.ts";
import { openSessionOfKey } from "./open-session.ts";

/**
 * Opens a session with the rights of an API key, which ends with the key.
 * @throws unauthenticated for every text that is not a working key
 */
export function signInWithApiKey(deps: ControlDeps): ControlHandlers["signInWithApiKey"] {
  return async ({ apiKey }) => {
    const key = await findLiveCredential(deps.db, "api_key", apiKey, deps.now());
    if (key === undefined) throw new AppError("unauthenticated", "invalid or expired credentials");
    const { org_id: orgId, id: keyId } = key;
    return { created: await commitProjectionChange(deps, orgId, (tx) => openSessionOfKey(tx, deps, { orgId, keyId })) };
  };
}

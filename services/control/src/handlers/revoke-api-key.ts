import { notFound } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import { revokeApiKeyRow } from "../store/revoke-api-key.ts";
import { visibleOrganization } from "./caller.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeApiKey } from "./encode-api-key.ts";
import { requireKeyManager } from "./key-manager.ts";

/** @throws not_found, forbidden */
export function revokeApiKey(deps: ControlDeps): ControlHandlers["revokeApiKey"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const keyId = pathId(request.keyId, "api key");
    requireKeyManager(call);
    const key = await commitProjectionChange(deps, orgId, async (tx) => {
      const revoked = await revokeApiKeyRow(tx, orgId, keyId, deps.now());
      if (revoked === undefined) throw notFound("api key");
      return revoked;
    });
    return { key: encodeApiKey(key) };
  };
}

import { notFound } from "@tidemark/errors";
import { revokeApiKey as revokeRow } from "../store/revoke-api-key.ts";
import { pathId, requireKeyManager, visibleOrganization } from "./caller.ts";
import { changing, type ControlDeps, type ControlHandlers } from "./deps.ts";
import { encodeApiKey } from "./encode.ts";

/** @throws not_found, forbidden */
export function revokeApiKey(deps: ControlDeps): ControlHandlers["revokeApiKey"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const keyId = pathId(request.keyId, "api key");
    requireKeyManager(call);
    const key = await changing(deps, orgId, async (tx) => {
      const revoked = await revokeRow(tx, orgId, keyId, deps.now());
      if (revoked === undefined) throw notFound("api key");
      return revoked;
    });
    return { key: encodeApiKey(key) };
  };
}

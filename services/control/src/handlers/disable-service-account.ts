import { notFound } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import { disableServiceAccountRow } from "../store/disable-service-account.ts";
import { visibleOrganization } from "./caller.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeServiceAccount } from "./encode-api-key.ts";
import { requireKeyManager } from "./key-manager.ts";

/** @throws not_found, forbidden */
export function disableServiceAccount(deps: ControlDeps): ControlHandlers["disableServiceAccount"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.serviceAccountId, "service account");
    requireKeyManager(call);
    const account = await commitProjectionChange(deps, orgId, async (tx) => {
      const disabled = await disableServiceAccountRow(tx, orgId, id, deps.now());
      if (disabled === undefined) throw notFound("service account");
      return disabled;
    });
    return { serviceAccount: encodeServiceAccount(account) };
  };
}

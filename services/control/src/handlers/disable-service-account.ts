import { notFound } from "@tidemark/errors";
import { disableServiceAccount as disableRow } from "../store/disable-service-account.ts";
import { pathId, requireKeyManager, visibleOrganization } from "./caller.ts";
import { changing, type ControlDeps, type ControlHandlers } from "./deps.ts";
import { encodeServiceAccount } from "./encode.ts";

/** @throws not_found, forbidden */
export function disableServiceAccount(deps: ControlDeps): ControlHandlers["disableServiceAccount"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.serviceAccountId, "service account");
    requireKeyManager(call);
    const account = await changing(deps, orgId, async (tx) => {
      const disabled = await disableRow(tx, orgId, id, deps.now());
      if (disabled === undefined) throw notFound("service account");
      return disabled;
    });
    return { serviceAccount: encodeServiceAccount(account) };
  };
}

import { notFound } from "@tidemark/errors";
import { findOrganization } from "../store/find-organization.ts";
import { listApiKeys as listRows } from "../store/list-api-keys.ts";
import { requireKeyManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeApiKey } from "./encode.ts";
import { pageOf } from "./page.ts";

/** @throws not_found, forbidden */
export function listApiKeys({ db }: ControlDeps): ControlHandlers["listApiKeys"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      if ((await findOrganization(tx, orgId)) === undefined) throw notFound("organization");
      requireKeyManager(call);
      return listRows(tx, orgId, pageOf(request.page));
    });
    return { keys: rows.map(encodeApiKey) };
  };
}

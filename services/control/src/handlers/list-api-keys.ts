import { notFound } from "@tidemark/errors";
import { readPage } from "@tidemark/requests";
import { findOrganization } from "../store/find-organization.ts";
import { listApiKeyRows } from "../store/list-api-keys.ts";
import { visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeApiKey } from "./encode-api-key.ts";
import { requireKeyManager } from "./key-manager.ts";

const limitMax = 1000;

/** @throws not_found, forbidden */
export function listApiKeys({ db }: ControlDeps): ControlHandlers["listApiKeys"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      if ((await findOrganization(tx, orgId)) === undefined) throw notFound("organization");
      requireKeyManager(call);
      return listApiKeyRows(tx, orgId, readPage(request.page, limitMax));
    });
    return { keys: rows.map(encodeApiKey) };
  };
}

import { readPage } from "@tidemark/requests";
import { listOrganizationRows } from "../store/list-organizations.ts";
import { requireOperator } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeOrganization } from "./encode-organization.ts";

const limitMax = 1000;

/** @throws unauthenticated */
export function listOrganizations({ db }: ControlDeps): ControlHandlers["listOrganizations"] {
  return async ({ page }, call) => {
    requireOperator(call);
    return { organizations: (await listOrganizationRows(db, readPage(page, limitMax))).map(encodeOrganization) };
  };
}

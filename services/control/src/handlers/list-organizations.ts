import { listOrganizations as listRows } from "../store/list-organizations.ts";
import { requireOperator } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeOrganization } from "./encode.ts";
import { pageOf } from "./page.ts";

/** @throws unauthenticated */
export function listOrganizations({ db }: ControlDeps): ControlHandlers["listOrganizations"] {
  return async ({ page }, call) => {
    requireOperator(call);
    return { organizations: (await listRows(db, pageOf(page))).map(encodeOrganization) };
  };
}

import { listUsers as listRows } from "../store/list-users.ts";
import { requireOperator } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeUser } from "./encode.ts";
import { pageOf } from "./page.ts";

/** @throws unauthenticated */
export function listUsers({ db }: ControlDeps): ControlHandlers["listUsers"] {
  return async ({ page }, call) => {
    requireOperator(call);
    return { users: (await listRows(db, pageOf(page))).map(encodeUser) };
  };
}

import { readPage } from "@tidemark/requests";
import { listUserRows } from "../store/list-users.ts";
import { requireOperator } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeUser } from "./encode-organization.ts";

const limitMax = 1000;

/** @throws unauthenticated */
export function listUsers({ db }: ControlDeps): ControlHandlers["listUsers"] {
  return async ({ page }, call) => {
    requireOperator(call);
    return { users: (await listUserRows(db, readPage(page, limitMax))).map(encodeUser) };
  };
}

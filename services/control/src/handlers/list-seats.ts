import { notFound } from "@tidemark/errors";
import { findOrganization } from "../store/find-organization.ts";
import { listSeats as listRows } from "../store/list-seats.ts";
import { requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeSeat } from "./encode.ts";
import { pageOf } from "./page.ts";

/** @throws not_found, forbidden */
export function listSeats({ db }: ControlDeps): ControlHandlers["listSeats"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      if ((await findOrganization(tx, orgId)) === undefined) throw notFound("organization");
      requirePeopleManager(call);
      return listRows(tx, orgId, pageOf(request.page));
    });
    return { seats: rows.map(encodeSeat) };
  };
}

import { notFound } from "@tidemark/errors";
import { readPage } from "@tidemark/requests";
import { findOrganization } from "../store/find-organization.ts";
import { listSeatRows } from "../store/list-seats.ts";
import { requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeSeat } from "./encode-seat.ts";

const limitMax = 1000;

/** @throws not_found, forbidden */
export function listSeats({ db }: ControlDeps): ControlHandlers["listSeats"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      if ((await findOrganization(tx, orgId)) === undefined) throw notFound("organization");
      requirePeopleManager(call);
      return listSeatRows(tx, orgId, readPage(request.page, limitMax));
    });
    return { seats: rows.map(encodeSeat) };
  };
}

import { route, type Route } from "../../route.ts";
import { signedInAdmins } from "../callers.ts";
import { auditQuery, auditSchema, decodeListAudit, encodeListAudit } from "./audit.ts";

/** The audit log of an organization. */
export const auditRoutes: readonly Route[] = [
  route({
    tag: "organizations",
    idempotency: "none",
    method: "GET",
    path: "/api/orgs/{org_id}/audit",
    summary: "Who did what to people, keys and the organization itself",
    description: "Newest first. Events hold ids, no names and no secrets; nothing changes or removes them.",
    callers: signedInAdmins,
    rate: "account",
    schemas: { query: auditQuery.schema, response: auditSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListAudit,
    rpc: (clients, request, call) => clients.control.listAuditEvents(request, call),
    encode: encodeListAudit,
  }),
];

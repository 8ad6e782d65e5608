import type { MessageInitShape } from "@bufbuild/protobuf";
import { PAGE_ROWS } from "@tidemark/limits";
import type { ListAuditEventsRequestSchema, ListAuditEventsResponse } from "@tidemark/proto/control/v1/control";
import type { Json } from "../../http/json.ts";
import { route, type Route, type RouteInput, type RouteReply } from "../../route.ts";
import { object } from "../fields/field.ts";
import { limit } from "../fields/number.ts";
import { textOrEmpty } from "../fields/text.ts";
import { listSchema, objectSchema, textOrNullSchema } from "../replies.ts";
import { signedInAdmins } from "../callers.ts";

/** The page of the audit log. */
const auditQuery = object({ limit: limit(PAGE_ROWS), cursor: textOrEmpty() });

const partySchema = objectSchema({ type: { type: "string" }, id: textOrNullSchema });

/** `{events, next_cursor, limit}`. */
const auditSchema = objectSchema({
  events: listSchema(
    objectSchema(
      {
        id: { type: "string", format: "uuid" },
        at: { type: "string", format: "date-time" },
        actor: partySchema,
        action: { type: "string" },
        target: partySchema,
        request_id: { type: "string" },
        details: {
          ...objectSchema({
            runs: { type: "integer", minimum: 1 },
            from_project_id: { type: "string", format: "uuid" },
          }),
          description: "Of run.moved and run.copied only: how many runs went to the target, and from where.",
        },
      },
      ["details"],
    ),
  ),
  next_cursor: textOrNullSchema,
  limit: { type: "integer" },
});

/** GET /api/orgs/{org_id}/audit. @throws bad_request */
function decodeListAudit({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListAuditEventsRequestSchema> & { readonly limit: number } {
  return { orgId: params["org_id"]!, ...auditQuery.read(query) };
}

/** The events, newest first, and where the next page begins. */
function encodeListAudit(
  { events, nextCursor }: ListAuditEventsResponse,
  { limit: rows }: { readonly limit: number },
): RouteReply {
  return {
    body: {
      events: events.map((event) => ({
        id: event.id,
        at: event.at,
        actor: party(event.actorType, event.actorId),
        action: event.action,
        target: party(event.targetType, event.targetId),
        request_id: event.requestId,
        ...(event.runs === 0 ? {} : { details: { runs: event.runs, from_project_id: event.fromProjectId } }),
      })),
      next_cursor: nextCursor === "" ? null : nextCursor,
      limit: rows,
    },
  };
}

function party(type: string, id: string): Json {
  return { type, id: id === "" ? null : id };
}

/** The audit log of an organization. */
export const auditRoutes: readonly Route[] = [
  route({
    tag: "organizations",
    idempotency: "none",
    method: "GET",
    path: "/api/orgs/{org_id}/audit",
    summary: "Who did what to people, keys, runs, projects and the organization itself",
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

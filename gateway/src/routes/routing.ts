import type { Route } from "../route.ts";

/** Far enough away that clients which ask before every write stop asking. */
const EXPIRES_AT = "2100-01-01T00:00:00Z";

/** Where an organization's data lives: here, since one installation is one cell. */
export const routingRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/routing/current",
    tag: "platform",
    summary: "Where to send writes",
    callers: { kind: "credentials", key: { scopes: [] }, session: { roles: ["owner", "admin", "member", "viewer"] } },
    rate: "general",
    idempotency: "none",
    schemas: {
      response: {
        type: "object",
        required: ["org_id", "cell_id", "route_version", "data_api_base", "expires_at"],
        properties: {
          org_id: { type: "string", format: "uuid" },
          cell_id: { type: "string" },
          route_version: { type: "integer", minimum: 1 },
          data_api_base: { type: "string", format: "uri" },
          expires_at: { type: "string", format: "date-time" },
        },
      },
    },
    statuses: [200, 401],
    handle: ({ identity, baseUrl }) =>
      Promise.resolve({
        body: {
          org_id: identity?.orgId ?? "",
          cell_id: "default",
          route_version: 1,
          data_api_base: baseUrl,
          expires_at: EXPIRES_AT,
        },
      }),
  },
];

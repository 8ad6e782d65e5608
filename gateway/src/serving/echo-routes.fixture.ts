import { AppError, type Reason } from "@tidemark/errors";
import { raw, type Json } from "../http/json.ts";
import type { Route, RouteReply } from "../route.ts";

const facts = {
  tag: "test",
  summary: "Returns what arrived",
  rate: "general",
  idempotency: "none",
  schemas: { response: { type: "object" } },
  statuses: [200],
} as const;

/** Routes that answer with what their decoder would read. */
export const echoRoutes: readonly Route[] = [
  {
    ...facts,
    method: "GET",
    path: "/echo/{id}",
    callers: { kind: "credentials", key: { scopes: ["export:read"] }, session: { roles: ["owner", "viewer"] } },
    handle: ({ params, query, baseUrl, identity }) =>
      Promise.resolve({ body: { params, query: { ...query }, base_url: baseUrl, org_id: identity?.orgId ?? null } }),
  },
  {
    ...facts,
    method: "POST",
    path: "/echo/{id}",
    rate: "ingest",
    idempotency: "optional",
    body: "required",
    bodyBytesMax: 1000,
    exactNumbers: true,
    callers: { kind: "credentials", key: { scopes: ["sdk:ingest"] }, session: { roles: ["owner"] } },
    handle: ({ body, idempotencyKey }) =>
      Promise.resolve({
        body: { body: raw(JSON.stringify(body)), key: idempotencyKey ?? null },
        replayed: idempotencyKey === "again",
        headers: { "cache-control": "private, no-store" },
      }),
  },
  {
    ...facts,
    method: "POST",
    path: "/optional",
    body: "optional",
    idempotency: "required",
    callers: { kind: "credentials", key: { scopes: [] }, session: { refused: 403 } },
    handle: ({ body }) => Promise.resolve({ body: { body: raw(JSON.stringify(body)) } }),
  },
  {
    ...facts,
    method: "POST",
    path: "/bodyless",
    callers: { kind: "credentials", key: { scopes: [] }, session: { refused: 401 } },
    handle: ({ body }) => Promise.resolve({ body: { body: raw(JSON.stringify(body)) } }),
  },
  {
    ...facts,
    method: "DELETE",
    path: "/session-only",
    callers: { kind: "credentials", key: { refused: 401 }, session: { roles: ["owner", "admin"] } },
    handle: () => Promise.resolve({ body: { deleted: true } }),
  },
  {
    ...facts,
    method: "POST",
    path: "/sign-in",
    callers: { kind: "anyone" },
    originRequired: true,
    handle: ({ cookieSecure, sessionToken }) =>
      Promise.resolve({
        body: { secure: cookieSecure, token: sessionToken ?? null },
        headers: { "set-cookie": "a=1" },
      }),
  },
  {
    ...facts,
    method: "POST",
    path: "/this-machine",
    callers: { kind: "anyone" },
    loopbackOnly: true,
    handle: () => Promise.resolve({ body: {} }),
  },
  {
    ...facts,
    method: "POST",
    path: "/anyone",
    callers: { kind: "anyone" },
    handle: () => Promise.resolve({ body: {} }),
  },
  {
    ...facts,
    method: "GET",
    path: "/open/{row}",
    rate: "none",
    callers: { kind: "credentials", key: { scopes: ["export:read"] }, session: { roles: ["owner"] }, orAnyone: true },
    handle: ({ params, identity }) => {
      if (identity !== undefined || params["row"] === "public") {
        return Promise.resolve({ body: { org_id: identity?.orgId ?? null } });
      }
      return Promise.reject(new AppError("unauthenticated", "missing bearer token"));
    },
  },
  {
    ...facts,
    method: "GET",
    path: "/tagged",
    callers: { kind: "anyone" },
    statuses: [200, 304],
    handle: ({ knownTags }) => Promise.resolve(taggedReply(knownTags)),
  },
  {
    ...facts,
    method: "POST",
    path: "/tagged",
    body: "required",
    callers: { kind: "anyone" },
    statuses: [200, 304],
    handle: ({ knownTags }) => Promise.resolve(taggedReply(knownTags)),
  },
  {
    ...facts,
    method: "POST",
    path: "/operator",
    callers: { kind: "operator" },
    handle: ({ identity }) => Promise.resolve({ body: { kind: identity?.kind ?? null } }),
  },
  {
    ...facts,
    method: "GET",
    path: "/keys",
    callers: {
      kind: "credentials",
      key: { scopes: ["api_keys:write"] },
      session: { roles: ["owner"] },
      operator: true,
    },
    handle: ({ identity }) => Promise.resolve({ body: { kind: identity?.kind ?? null } }),
  },
  {
    ...facts,
    method: "GET",
    path: "/long",
    callers: { kind: "anyone" },
    handle: () => Promise.resolve({ body: { text: "x".repeat(5000) } }),
  },
];

/** Returns the reply of a route whose answer has the tag `now`. */
function taggedReply(knownTags: readonly string[]): RouteReply {
  const etag = "now";
  if (knownTags.includes(etag) || knownTags.includes("*")) return { body: null, etag, notModified: true };
  return { body: { text: "x".repeat(2000) }, etag };
}

/** Returns a route that does the given work. */
export function workRoute(work: () => Promise<Json>, more: Partial<Route> = {}): Route {
  return {
    ...facts,
    method: "GET",
    path: "/work",
    rate: "none",
    callers: { kind: "anyone" },
    handle: async () => ({ body: await work() }),
    ...more,
  };
}

/** Returns a route that fails for a reason. */
export function failingRoute(reason: Reason, details: { retryAfterSeconds?: number } = {}): Route {
  return workRoute(() => Promise.reject(new AppError(reason, `text of ${reason}`, details)), {
    path: `/fails/${reason}`,
    statuses: [200, 409],
  });
}

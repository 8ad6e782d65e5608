import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Scope } from "@tidemark/credentials";
import type { Callers, Role } from "../auth/callers.ts";
import type { Route } from "../route.ts";
import { dialectRoutes } from "../dialects/index.ts";
import { allRoutes } from "./index.ts";
import { echoRoutes } from "../serving/echo-routes.fixture.ts";
import { bootstrapToken, startApp, type TestApp } from "../app.fixture.ts";

const scopes: readonly Scope[] = [
  "export:read",
  "sdk:ingest",
  "runs:control",
  "artifacts:write",
  "artifacts:manage",
  "imports:write",
  "usage:read",
  "api_keys:write",
];
const roles: readonly Role[] = ["owner", "admin", "member", "viewer"];

/** These tests check whom a route lets in, not what it does then. */
const routes: readonly Route[] = [...allRoutes, ...dialectRoutes, ...echoRoutes].map((route) => ({
  ...route,
  handle: () => Promise.resolve({ body: { reached: true } }),
}));

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes });
});
afterAll(() => app.close());

type Caller = {
  readonly name: string;
  readonly headers: () => Record<string, string>;
  /** The status that a route with such callers must return to this one. */
  readonly expected: (route: Route, callers: Extract<Callers, { kind: "credentials" }>) => number;
};

const keyWith = (name: string, granted: readonly Scope[]): Caller => ({
  name,
  headers: () => ({ authorization: `Bearer ${app.addKey(granted)}` }),
  expected: (_, { key }) => {
    if ("refused" in key) return key.refused;
    const holds = (scope: Scope): boolean => granted.includes(scope);
    if ("allScopes" in key) return key.allScopes.every(holds) ? 200 : 403;
    return key.scopes.length === 0 || key.scopes.some(holds) ? 200 : 403;
  },
});
const sessionOf = (role: Role, origin: boolean): Caller => ({
  name: `a session of an ${role}${origin ? "" : " without an Origin"}`,
  headers: () => ({
    cookie: `tidemark_session=${app.addSession(role)}`,
    ...(origin ? { origin: "https://app.example" } : {}),
  }),
  expected: (route, { session }) => {
    if ("refused" in session) return session.refused;
    if (route.method !== "GET" && !origin) return 403;
    return session.roles.includes(role) ? 200 : 403;
  },
});
/** A session made from a key may do what the key may, where sessions are allowed, and nothing that belongs to users. */
const sessionOfKey = (name: string, granted: readonly Scope[], origin: boolean): Caller => ({
  name: `a session of ${name}${origin ? "" : " without an Origin"}`,
  headers: () => ({
    cookie: `tidemark_session=${app.addSessionOfKey(granted)}`,
    ...(origin ? { origin: "https://app.example" } : {}),
  }),
  expected: (route, callers) => {
    if ("refused" in callers.session) return callers.session.refused;
    if ("refused" in callers.key) return 403;
    if (route.method !== "GET" && !origin) return 403;
    return keyWith(name, granted).expected(route, callers);
  },
});
const refused = (name: string, headers: () => Record<string, string>): Caller => ({
  name,
  headers,
  expected: () => 401,
});

const callers: readonly Caller[] = [
  refused("nobody", () => ({})),
  refused("a bad key", () => ({ authorization: "Bearer tm_bad" })),
  refused("another scheme", () => ({ authorization: "Basic abc" })),
  refused("a revoked key", () => ({ authorization: `Bearer ${app.addKey(scopes, { revoked: true })}` })),
  refused("an expired key", () => ({
    authorization: `Bearer ${app.addKey(scopes, { expiresAt: "2020-01-01T00:00:00Z" })}`,
  })),
  refused("a bad session", () => ({ cookie: "tidemark_session=bad" })),
  refused("a revoked session", () => ({ cookie: `tidemark_session=${app.addSession("owner", { revoked: true })}` })),
  keyWith("a key without scopes", []),
  ...scopes.map((scope) => keyWith(`a key for ${scope}`, [scope])),
  keyWith("a key with the scopes that keys usually have", ["sdk:ingest", "export:read"]),
  ...scopes.map((scope) =>
    keyWith(
      `a key for all but ${scope}`,
      scopes.filter((other) => other !== scope),
    ),
  ),
  ...roles.flatMap((role) => [sessionOf(role, true), sessionOf(role, false)]),
  ...[[], ...scopes.map((scope) => [scope]), scopes].flatMap((granted) =>
    [true, false].map((origin) => sessionOfKey(`a key for ${granted.join(" and ")}`, granted, origin)),
  ),
  refused("a revoked session of a key", () => ({
    cookie: `tidemark_session=${app.addSessionOfKey(scopes, { revoked: true })}`,
  })),
];

async function statusOf(route: Route, headers: Record<string, string>): Promise<number> {
  const path = route.path.replaceAll(/\{\w+\}/g, "0a1b2c3d-0000-4000-8000-000000000001");
  const response = await fetch(`${app.url}${path}`, {
    method: route.method,
    headers: {
      ...headers,
      "idempotency-key": "k",
      ...(route.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(route.body === undefined || route.method === "GET" ? {} : { body: "{}" }),
  });
  await response.arrayBuffer();
  return response.status;
}

const titleOf = ({ method, path }: Route): string => `${method} ${path}`;

describe.each(routes.map((route) => [titleOf(route), route] as const))("%s", (_, route) => {
  const { callers: allowed } = route;

  if (allowed.kind === "credentials") {
    test("admits the callers that its record names, and no others", async () => {
      const actual: Record<string, number> = {};
      const owed: Record<string, number> = {};
      for (const caller of callers) {
        actual[caller.name] = await statusOf(route, caller.headers());
        owed[caller.name] = allowed.orAnyone === true ? 200 : caller.expected(route, allowed);
      }
      expect(actual).toEqual(owed);
    });
  } else {
    test("asks for no key and no session", async () => {
      const open = allowed.kind === "anyone";
      expect(await statusOf(route, { origin: "https://app.example" })).toBe(open ? 200 : 401);
      expect(
        await statusOf(route, { authorization: `Bearer ${app.addKey(scopes)}`, origin: "https://app.example" }),
      ).toBe(open ? 200 : 401);
    });
  }

  test("opens to operators only where its record says so", async () => {
    const opens =
      allowed.kind === "credentials"
        ? allowed.operator === true || allowed.orAnyone === true
        : allowed.kind !== "embed";
    const headers = { "x-svc-bootstrap-token": bootstrapToken, origin: "https://app.example" };
    expect(await statusOf(route, headers)).toBe(opens ? 200 : 401);
    if (allowed.kind === "operator" || (allowed.kind === "credentials" && allowed.orAnyone !== true)) {
      expect(await statusOf(route, { ...headers, "x-svc-bootstrap-token": "wrong" })).toBe(401);
    }
  });
});

test("no two routes share a method and a path", () => {
  expect(new Set(routes.map(titleOf)).size).toBe(routes.length);
});

import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseCredential } from "@tidemark/credentials";
import { CredentialKind, type CredentialEntry } from "@tidemark/proto/control/v1/control";
import { until } from "@tidemark/testkit";
import { startApp, type TestApp } from "../app.fixture.ts";
import { allRoutes } from "../api/index.ts";
import { arriving } from "../gate/arrival.ts";
import { holdRequest, parseAnswer } from "../http/raw-request.fixture.ts";
import type { HandlerContext, Route } from "../route.ts";

// A client holds a request back until the credential that let it in has ended.

const facts = {
  tag: "test",
  summary: "Takes long",
  rate: "general",
  idempotency: "none",
  schemas: { response: { type: "object" } },
  statuses: [200, 401, 403],
  callers: { kind: "credentials", key: { scopes: ["sdk:ingest"] }, session: { roles: ["owner"] } },
} as const;

/** What routes did, by their paths. */
const done: string[] = [];

/** Reads a body while it arrives, and then does its work. */
const stream: Route = {
  ...facts,
  method: "PUT",
  path: "/stream",
  streamed: "bytes",
  async handle(_input, _clients, _call, { request, newCall }: HandlerContext) {
    for await (const _ of arriving(request));
    await newCall();
    done.push("PUT /stream");
    return { body: {} };
  },
};

const endless: Route = {
  ...facts,
  method: "GET",
  path: "/endless",
  schemas: { response: {}, responseType: "text/plain" },
  handle: () =>
    Promise.resolve({
      body: null,
      headers: { "content-type": "text/plain" },
      stream: {
        pieces: (async function* () {
          for (;;) yield await new Promise<Buffer>((resolve) => setTimeout(resolve, 20, Buffer.alloc(10)));
        })(),
      },
    }),
};

/** All routes of ours that parse a body, with handlers that note what they would have done. */
const bodied = allRoutes
  .filter(
    ({ body, streamed, callers }) => body !== undefined && streamed === undefined && callers.kind === "credentials",
  )
  .map((route): Route => ({
    ...route,
    handle: ({ identity }) => {
      done.push(`${route.method} ${route.path} ${identity?.kind ?? "unknown"}`);
      return Promise.resolve({ body: {} });
    },
  }));

const sockets: Socket[] = [];
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: [...bodied, stream, endless] });
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  return app.close();
});

const everything = [
  ...new Set(
    allRoutes.flatMap(({ callers }) =>
      callers.kind !== "credentials"
        ? []
        : "scopes" in callers.key
          ? callers.key.scopes
          : "allScopes" in callers.key
            ? callers.key.allScopes
            : [],
    ),
  ),
];

/** A credential that opens a route, with a function that ends it. */
function open({ callers }: Pick<Route, "callers">): {
  headers: string;
  change: (fields: Partial<CredentialEntry>) => void;
} {
  if (callers.kind !== "credentials") throw new Error("no credentials");
  const byKey = !("refused" in callers.key);
  const token = byKey ? app.addKey(everything) : app.addSession("owner");
  const id = parseCredential(token)!.id;
  const kind = byKey ? CredentialKind.API_KEY : CredentialKind.SESSION;
  return {
    headers: byKey
      ? `Authorization: Bearer ${token}\r\n`
      : `Cookie: tidemark_session=${token}\r\nOrigin: https://app.example\r\n`,
    change: (fields) =>
      app.directory.put({ organizations: [], credentials: [{ ...app.directory.find(kind, id)!.entry, ...fields }] }),
  };
}

/** A request whose bytes have all arrived except the last. */
async function hold({ method, path }: Pick<Route, "method" | "path">, headers: string, body: string) {
  const target = path.replaceAll(/\{\w+\}/g, "0a1b2c3d-0000-4000-8000-0000000000aa");
  const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  const held = await holdRequest(app, head + body, 1);
  sockets.push(held.socket);
  return { answer: held.answer, finish: async () => parseAnswer(await held.finish()) };
}

const json = bodied.filter(({ protocol }) => protocol === undefined);

test.each(json.map((route) => [`${route.method} ${route.path}`, route] as const))(
  "%s does nothing when its credential was revoked while the body arrived",
  async (_, route) => {
    done.length = 0;
    const { headers, change } = open(route);
    const request = await hold(route, headers, "{}");
    change({ revoked: true });
    const { status, body } = await request.finish();
    expect({ status, body, done }).toEqual({ status: 401, body: { error: expect.any(String) }, done: [] });
  },
);

test.each<[string, Partial<CredentialEntry>, number]>([
  ["lost its scope", { scopes: ["export:read"] }, 403],
  ["has expired", { expiresAt: "2026-01-02T03:04:04Z" }, 401],
  ["opens one project alone now", { projectId: "0a1b2c3d-0000-4000-8000-0000000000bb" }, 403],
])("a body whose credential %s is refused", async (_, fields, status) => {
  done.length = 0;
  const route = json.find(({ path }) => path === "/runs/{run_id}/metrics")!;
  const { headers, change } = open(route);
  const request = await hold(route, headers, "{}");
  change(fields);
  expect([(await request.finish()).status, done]).toEqual([status, []]);
});

test("a session whose role was lowered while the body arrived is refused", async () => {
  done.length = 0;
  const route = json.find(({ method, path }) => method === "POST" && path === "/api/orgs/{org_id}/invitations")!;
  const token = app.addSession("owner");
  const request = await hold(route, `Cookie: tidemark_session=${token}\r\nOrigin: https://app.example\r\n`, "{}");
  const { entry } = app.directory.find(CredentialKind.SESSION, parseCredential(token)!.id)!;
  app.directory.put({ organizations: [], credentials: [{ ...entry, role: "viewer" }] });
  expect([(await request.finish()).status, done]).toEqual([403, []]);
});

describe("a stream", () => {
  test("that is done when its credential has ended commits nothing", async () => {
    done.length = 0;
    const { headers, change } = open(stream);
    const request = await hold(stream, headers, "bytes");
    change({ revoked: true });
    expect([(await request.finish()).status, done]).toEqual([401, []]);
  });

  test.each([
    ["read while it arrives", stream, "a body whose end never arrives"],
    [
      "read as a whole",
      json.find(({ path }) => path === "/runs/{run_id}/metrics/batch")!,
      JSON.stringify({ a: "x".repeat(100_000) }),
    ],
  ])("that is %s is refused within ten seconds, and the connection ends", async (_, route, body) => {
    done.length = 0;
    const { headers, change } = open(route);
    const request = await hold(route, headers, body);
    change({ revoked: true });
    await until("the answer", () => request.answer() !== "", 10_000);
    expect([parseAnswer(request.answer()), done]).toEqual([
      expect.objectContaining({ status: 401, body: { error: expect.any(String) } }),
      [],
    ]);
  });

  test("of an answer breaks off within ten seconds", async () => {
    const { headers, change } = open(endless);
    const authorization = /Bearer \S+/.exec(headers)![0];
    const response = await fetch(`${app.url}/endless`, { headers: { authorization } });
    const reading = response.text().then(
      () => "complete",
      () => "broken off",
    );
    change({ revoked: true });
    const started = Date.now();
    expect(await reading).toBe("broken off");
    expect(Date.now() - started).toBeLessThan(10_000);
  });
});

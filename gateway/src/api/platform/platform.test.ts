import { afterEach, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { allRoutes } from "../index.ts";
import { echoRoutes } from "../../serving/echo-routes.fixture.ts";
import { orgId, startApp, type TestApp, type TestAppOptions } from "../../app.fixture.ts";

let app: TestApp;
afterEach(() => app.close());
const start = async (options: Partial<TestAppOptions> = {}): Promise<void> => {
  app = await startApp({ routes: [...allRoutes, ...echoRoutes], ...options });
};
const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${app.url}${path}`, { headers });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};
const projection = (state: { loaded: boolean; degraded: boolean }) => ({
  projection: { loaded: () => state.loaded, degraded: () => state.degraded, refresh: () => Promise.resolve() },
});

test.each(["/health", "/healthz"])("%s is exactly ok", async (path) => {
  await start();
  expect(await get(path)).toEqual({ status: 200, type: "application/json; charset=utf-8", text: '{"status":"ok"}' });
});

test("/readyz returns what a probe needs to know", async () => {
  await start({ options: projection({ loaded: true, degraded: true }) });
  const answer = await get("/readyz");
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    200,
    {
      status: "ok",
      control_projection_loaded: true,
      control_refresh_degraded: true,
      write_ready: true,
      writer_lease: { required: false, ready: true, code: null },
    },
  ]);
});

test.each<[string, TestAppOptions["options"]]>([
  ["the projection is not loaded", projection({ loaded: false, degraded: true })],
  ["the services say no", { probe: () => Promise.resolve(false) }],
  ["the services cannot be asked", { probe: () => Promise.reject(new Error("refused")) }],
])("/readyz is 503 while %s", async (_, options) => {
  await start({ options });
  const answer = await get("/readyz");
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    503,
    { error: "the service is not available at the moment; try again", code: "service_unavailable" },
  ]);
});

test("the services are asked once a second at most", async () => {
  let asked = 0;
  await start({ options: { probe: () => Promise.resolve((asked += 1) > 0) } });
  await Promise.all(Array.from({ length: 10 }, () => get("/readyz")));
  app.clock.ms += 999;
  await get("/readyz");
  expect(asked).toBe(1);
  app.clock.ms += 1;
  await get("/readyz");
  expect(asked).toBe(2);
});

test.each([
  [{ loaded: false, degraded: true }, 0, 1],
  [{ loaded: true, degraded: false }, 1, 0],
])("/metrics has exactly the three gauges (%j)", async (state, loaded, degraded) => {
  await start({ options: projection(state) });
  const answer = await get("/metrics");
  expect([answer.status, answer.type]).toEqual([200, "text/plain; version=0.0.4"]);
  expect(answer.text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    'svc_rust_build_info{service="tidemark",service_plane="combined"} 1',
    `svc_control_projection_loaded{service_plane="combined"} ${loaded}`,
    `svc_control_refresh_degraded{service_plane="combined"} ${degraded}`,
  ]);
});

test("/openapi.json is a valid OpenAPI 3.1 document of every route", async () => {
  await start();
  const answer = await get("/openapi.json");
  const document = JSON.parse(answer.text);
  expect(await new Validator().validate(document)).toEqual({ valid: true });
  expect(document).toMatchObject({
    openapi: "3.1.0",
    "x-svc-service-plane": "combined",
    "x-instantml-service-plane": "combined",
  });
  const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = [...allRoutes, ...echoRoutes].map(({ method, path }) => `${method} ${path}`);
  const platform = ["/health", "/healthz", "/readyz", "/metrics", "/openapi.json"].map((path) => `GET ${path}`);
  expect(operations.toSorted()).toEqual([...routes, ...platform].toSorted());
});

test.each(["/health", "/metrics", "/openapi.json"])(
  "a malformed query of %s is 400, as the description says",
  async (path) => {
    await start();
    const answer = await get(`${path}?x=1&x=1`);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { error: "the parameter x is given twice", field: "x" },
    ]);
    const document = JSON.parse((await get("/openapi.json")).text);
    expect(document.paths[path].get.responses).toHaveProperty("400");
  },
);

test("an operation documents its parameters, body, answers and callers", async () => {
  await start();
  const document = JSON.parse((await get("/openapi.json")).text);
  const operation = document.paths["/echo/{id}"].post;
  expect(operation.parameters).toMatchObject([
    { name: "id", in: "path", required: true },
    { name: "Idempotency-Key", in: "header", required: false },
  ]);
  expect(operation.requestBody.required).toBe(true);
  expect(Object.keys(operation.responses)).toEqual(["200", "400", "401", "413", "429", "500", "503"]);
  expect(operation.security).toEqual([{ bearerApiKey: [] }, { cookieSession: [] }]);
  expect(document.paths["/operator"].post.security).toEqual([{ bootstrapToken: [] }]);
  expect(document.paths["/health"].get.security).toEqual([]);
  expect(Object.keys(document.components.securitySchemes)).toEqual(
    expect.arrayContaining(["bearerApiKey", "cookieSession", "bearerEmbedToken"]),
  );
});

test("no two operations have one id", async () => {
  await start();
  const document = JSON.parse((await get("/openapi.json")).text);
  const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("writes are sent here, and clients need not ask again", async () => {
  await start();
  const answer = await get("/api/routing/current", { authorization: `Bearer ${app.addKey([])}` });
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    200,
    {
      org_id: orgId,
      cell_id: "default",
      route_version: 1,
      data_api_base: app.url,
      expires_at: "2100-01-01T00:00:00Z",
    },
  ]);
});

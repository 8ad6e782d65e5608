import { expect, test } from "@jest/globals";
import { connect } from "node:net";
import { version } from "@tidemark/host";
import { describeModes } from "../stack/modes.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Sends bytes unchanged and returns everything that the server sends until it closes. */
function rawExchange(baseUrl: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setTimeout(60_000, () => socket.end());
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

describeModes("the platform routes and the HTTP rules", (stack) => {
  test.each(["/health", "/healthz"])("GET %s is exactly ok, without credentials", async (path) => {
    const answer = await stack().api.get(path);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('{"status":"ok"}');
  });

  test("GET /readyz has the documented shape", async () => {
    expect((await stack().api.get("/readyz")).json).toEqual({
      status: "ok",
      control_projection_loaded: true,
      control_refresh_degraded: false,
      write_ready: true,
      writer_lease: { required: false, ready: true, code: null },
    });
  });

  test("GET /metrics has exactly the three gauges", async () => {
    const answer = await stack().api.get("/metrics");
    expect(answer.headers["content-type"]).toContain("text/plain; version=0.0.4");
    const samples = answer.text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(samples).toHaveLength(3);
    expect(samples[0]).toMatch(
      /^svc_rust_build_info\{(service|service_plane)="[^"]+",(service|service_plane)="[^"]+"\} 1$/,
    );
    expect(samples[1]).toMatch(/^svc_control_projection_loaded\{service_plane="[^"]+"\} 1$/);
    expect(samples[2]).toMatch(/^svc_control_refresh_degraded\{service_plane="[^"]+"\} 0$/);
  });

  test("a streamed file forbids a browser to guess its type, as every answer does", async () => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", {})).json.run;
    const answer = await api.get(`/api/export?format=ndjson&run_ids=${id}`);
    expect([answer.status, answer.headers["x-content-type-options"]]).toEqual([200, "nosniff"]);
    expect((await api.get("/health")).headers["x-content-type-options"]).toBe("nosniff");
  });

  test("the port of figures has full Prometheus metrics, by route template and never by run", async () => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", {})).json.run;
    await api.get(`/runs/${id}`);
    const text = await stack().metricsText("gateway");
    expect(text).toContain('route="/runs/{run_id}"');
    expect(text).not.toContain(id);
  });

  test("GET /openapi.json is OpenAPI 3.1 and names the service plane", async () => {
    const { json } = await stack().api.get("/openapi.json");
    expect(json.openapi).toMatch(/^3\.1\./);
    expect(json.info.version).toBe(version);
    expect(json["x-svc-service-plane"]).toEqual(expect.any(String));
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining([
        "/runs",
        "/runs/{run_id}",
        "/runs/{run_id}/metrics/batch",
        "/api/runs/{run_id}/logs",
        "/health",
      ]),
    );
  });

  test.each([["/nowhere"], ["/runs/"], ["/RUNS"], ["/api/runs"], ["/%zz"], ["/runs/%ff"], ["//runs"]])(
    "%s is an error with a text, without credentials",
    async (path) => {
      const answer = await stack().api.get(path);
      expect([400, 404]).toContain(answer.status);
      expect(answer.json.error).toEqual(expect.any(String));
      expect(answer.headers["x-request-id"]).toEqual(expect.any(String));
    },
  );

  test("an unknown route says not found, a wrong method 405 with Allow, both before credentials", async () => {
    const unknown = await stack().api.get("/api/nothing/here");
    expect(unknown).toMatchObject({ status: 404, json: { error: expect.stringContaining("not found") } });
    const wrong = await stack().api.call("DELETE", "/runs");
    expect(wrong).toMatchObject({ status: 405, json: { error: expect.any(String) } });
    expect(String(wrong.headers["allow"]).split(/,\s*/)).toEqual(expect.arrayContaining(["GET", "POST"]));
  });

  test.each([
    ["none", {}],
    ["a wrong key", { authorization: "Bearer nonsense" }],
    ["a key that does not exist", { authorization: "Bearer tm_000000000000_00000000000000000000000000000000_000000" }],
    ["another scheme", { authorization: "Basic dTpw" }],
    ["an empty bearer", { authorization: "Bearer " }],
  ])("credentials that are %s are 401", async (_what, headers) => {
    expect(await stack().api.get("/runs", { headers })).toMatchObject({
      status: 401,
      json: { error: expect.any(String) },
    });
  });

  test("a key without the scope is 403 and told which one is missing", async () => {
    const reader = await stack().organization({ scopes: ["export:read"] });
    expect(await reader.api.post("/runs", {})).toMatchObject({
      status: 403,
      json: { error: "api key requires sdk:ingest" },
    });
    const writer = await stack().organization({ scopes: ["sdk:ingest"] });
    expect(await writer.api.get("/runs")).toMatchObject({
      status: 403,
      json: { error: "api key requires export:read" },
    });
  });

  test("every answer has an x-request-id: the caller's when it is fit, else a new one", async () => {
    const { api } = await stack().organization();
    const idFor = async (sent?: string) =>
      (await api.get("/runs", sent === undefined ? {} : { headers: { "x-request-id": sent } })).headers["x-request-id"];
    expect(await idFor()).toMatch(UUID);
    expect(await idFor("trace:1._-A")).toBe("trace:1._-A");
    for (const unfit of ["a@b", "x".repeat(129), "tm_secret", "instantml_abc", "ghp_abc", "sk_live_1", "a b"]) {
      expect(await idFor(unfit)).toMatch(UUID);
    }
    expect((await stack().api.get("/nowhere", { headers: { "x-request-id": "mine" } })).headers["x-request-id"]).toBe(
      "mine",
    );
  });

  test.each([
    ["malformed JSON", '{"a":', { "content-type": "application/json" }],
    ["a list", "[1]", { "content-type": "application/json" }],
    ["a text", '"x"', { "content-type": "application/json" }],
    ["null", "null", { "content-type": "application/json" }],
    ["nothing", "", { "content-type": "application/json" }],
    ["another content type", "{}", { "content-type": "text/plain" }],
    ["a depth bomb", "[".repeat(100_000), { "content-type": "application/json" }],
    ["a deep object", `{"config":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`, { "content-type": "application/json" }],
    ["a __proto__ key", '{"config":{"__proto__":{"a":1}}}', { "content-type": "application/json" }],
    [
      "bytes that are not UTF-8",
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      { "content-type": "application/json" },
    ],
  ])("a body that is %s is 400 and leaves nothing behind", async (_what, rawBody, headers) => {
    const { api } = await stack().organization();
    const answer = await api.call("POST", "/runs", { rawBody, headers });
    expect(answer).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    expect((await api.get("/runs")).json.runs).toEqual([]);
  });

  test("1,000,000 bytes are the most that an ordinary JSON route takes", async () => {
    const { api } = await stack().organization();
    const body = (size: number): string => {
      const empty = '{"pad":""}';
      return `{"pad":"${"x".repeat(size - empty.length)}"}`;
    };
    expect((await api.call("POST", "/projects", { rawBody: body(1_000_000) })).status).toBe(200);
    expect(await api.call("POST", "/projects", { rawBody: body(1_000_001) })).toMatchObject({
      status: 413,
      json: { error: expect.any(String) },
    });
  });

  test("Content-Type: application/json with an empty body is fine on GET", async () => {
    const { api } = await stack().organization();
    expect((await api.get("/runs", { headers: { "content-type": "application/json" } })).status).toBe(200);
  });

  test("HEAD answers as GET without a body", async () => {
    const { api } = await stack().organization();
    const answer = await api.call("HEAD", "/runs");
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(Number(answer.headers["content-length"])).toBeGreaterThan(0);
  });

  test("OPTIONS is 204 for an allowed origin and 405 otherwise", async () => {
    const { api } = stack();
    const preflight = (origin: string) =>
      api.call("OPTIONS", "/runs", { headers: { origin, "access-control-request-method": "POST" } });
    expect(await preflight("http://localhost:3000")).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": "http://localhost:3000" },
    });
    expect((await preflight("https://evil.test")).status).toBe(405);
  });

  test("answers are not compressed unless requested", async () => {
    const { api } = await stack().organization();
    await Promise.all(Array.from({ length: 20 }, () => api.post("/runs", { config: { text: "x".repeat(500) } })));
    expect((await api.get("/runs")).headers["content-encoding"]).toBeUndefined();
    expect(
      (await api.get("/runs", { headers: { "accept-encoding": "identity" } })).headers["content-encoding"],
    ).toBeUndefined();
    expect((await api.get("/runs", { headers: { "accept-encoding": "gzip" } })).headers["content-encoding"]).toBe(
      "gzip",
    );
  });

  test("requests that are not HTTP get the one error shape too", async () => {
    const answer = await rawExchange(stack().baseUrl, "NONSENSE\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"error":');
    const long = await rawExchange(
      stack().baseUrl,
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(40_000)}\r\n\r\n`,
    );
    expect(long).toMatch(/^HTTP\/1\.1 4(00|31) /);
    expect(long).toContain('"error":');
  });

  test("GET /api/routing/current sends clients back here for a long time", async () => {
    const { api } = await stack().organization();
    const { json, status } = await api.get("/api/routing/current");
    expect(status).toBe(200);
    expect(json).toMatchObject({ data_api_base: stack().baseUrl, route_version: 1 });
    expect(Date.parse(json.expires_at)).toBeGreaterThan(Date.now() + 60_000);
  });

  test("a route of a later version is a plain 404", async () => {
    const { api } = await stack().organization();
    expect((await api.call("PUT", "/api/runs/x/sessions/y", { body: {} })).status).toBe(404);
  });
});

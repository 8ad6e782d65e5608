import { expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { until } from "@tidemark/testkit";
import type { Stack } from "../stack/attach.ts";
import { sessionCookie, asOperator, createTeam } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

// A client holds back the last byte of a request, or reads an answer slowly, until its credential has ended.

/** How long work may continue after a revocation, in milliseconds. */
const WITHIN_MS = 10_000;

type Held = {
  readonly method?: "POST" | "PUT";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Sends a request without its last byte. */
async function hold(stack: Stack, { method = "POST", path, headers, body }: Held) {
  const { port, hostname } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = once(socket, "close");
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body.slice(0, -1)}`,
  );
  return {
    status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0),
    async finish(): Promise<number> {
      socket.write(body.slice(-1));
      await closed;
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
    },
    closed,
  };
}

describeModes("a request that outlives the rights of its caller", (stack) => {
  const newKey = async (scopes: readonly string[]) => {
    const { orgId, api } = await stack().organization();
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { scopes }, asOperator(stack()));
    const headers = { authorization: `Bearer ${made.json.api_key}`, "content-type": "application/json" };
    const revoke = async (): Promise<void> => {
      const path = `/api/orgs/${orgId}/api-keys/${made.json.key.id}/revoke`;
      expect((await stack().api.post(path, {}, asOperator(stack()))).status).toBe(200);
    };
    return { orgId, api, headers, key: made.json.api_key as string, revoke };
  };

  test("a removed admin does not invite itself back", async () => {
    const team = await createTeam(stack());
    const admin = await team.join("admin");
    const invitations = async () =>
      (await team.owner.browser.get(`/api/orgs/${team.orgId}/invitations`)).json.invitations;
    const before = await invitations();
    const request = await hold(stack(), {
      path: `/api/orgs/${team.orgId}/invitations`,
      headers: {
        cookie: `${sessionCookie}=${admin.browser.token()}`,
        origin: stack().baseUrl,
        "content-type": "application/json",
      },
      body: JSON.stringify({ email: admin.email, role: "admin" }),
    });
    const { seats } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json;
    const seat = seats.find(({ user }: { user: { primary_email: string } }) => user.primary_email === admin.email);
    const removed = await team.owner.browser.call("DELETE", `/api/orgs/${team.orgId}/seats/${seat.membership.id}`);
    expect(removed.status).toBe(200);
    expect(await request.finish()).toBe(401);
    expect(await invitations()).toEqual(before);
  });

  test("a revoked key writes no report, no metrics, no artifact, no span and no archive", async () => {
    const { api, headers, revoke } = await newKey(["sdk:ingest", "export:read", "artifacts:write"]);
    const { id } = (await api.post("/runs", {})).json.run;
    const content = Buffer.from("never").toString("base64");
    const span = {
      traceId: "ab".repeat(16),
      spanId: "cd".repeat(8),
      name: "never",
      startTimeUnixNano: String(Date.now() * 1e6),
      endTimeUnixNano: String(Date.now() * 1e6 + 1),
      attributes: [{ key: "tidemark.run_id", value: { stringValue: id } }],
    };
    const wishes: Held[] = [
      { path: "/api/reports", headers, body: JSON.stringify({ title: "never" }) },
      { path: `/runs/${id}/metrics`, headers, body: JSON.stringify({ step: 1, metrics: { loss: 1 } }) },
      {
        path: `/api/runs/${id}/artifacts/upload`,
        headers,
        body: JSON.stringify({ name: "never.txt", content_base64: content }),
      },
      {
        path: "/v1/traces",
        headers,
        body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
      },
      {
        path: "/api/imports/archive",
        headers: { ...headers, "content-type": "application/x-ndjson", "idempotency-key": "never" },
        body: `${"\n".repeat(100)}`,
      },
    ];
    const requests = await Promise.all(wishes.map((wish) => hold(stack(), wish)));
    await revoke();
    expect(await Promise.all(requests.map((request) => request.finish()))).toEqual([401, 401, 401, 401, 401]);
    const left = await Promise.all(
      ["/api/reports", `/runs/${id}/metrics?key=loss`, `/api/runs/${id}/artifacts`, `/api/runs/${id}/traces`].map(
        async (path) => (await api.get(path)).text,
      ),
    );
    expect(left.join("")).not.toContain("never");
    expect(JSON.parse(left[1]!).metrics).toEqual([]);
  });

  test("a body that is still being sent is refused within ten seconds", async () => {
    const { api, headers, revoke } = await newKey(["sdk:ingest", "artifacts:write", "export:read"]);
    const { id } = (await api.post("/runs", {})).json.run;
    const large = "x".repeat(200_000);
    const requests = await Promise.all(
      [
        { path: `/runs/${id}/metrics/batch`, headers, body: JSON.stringify({ points: large }) },
        {
          path: `/api/runs/${id}/artifacts/upload`,
          headers,
          body: JSON.stringify({ name: "never.txt", content_base64: large }),
        },
        { path: "/v1/traces", headers, body: JSON.stringify({ resourceSpans: large }) },
        {
          path: "/api/imports/archive",
          headers: { ...headers, "content-type": "application/x-ndjson", "idempotency-key": "never" },
          body: large,
        },
      ].map((wish) => hold(stack(), wish)),
    );
    await revoke();
    await until("the refusals", () => requests.every((request) => request.status() !== 0), WITHIN_MS);
    expect(requests.map((request) => request.status())).toEqual([401, 401, 401, 401]);
    await Promise.all(requests.map(({ closed }) => closed));
  });

  test("parts of an upload end with the key that began it, and none is accepted afterwards", async () => {
    const { api, key, revoke } = await newKey(["sdk:ingest", "artifacts:write"]);
    const sender = api.as(key);
    const { id } = (await sender.post("/runs", {})).json.run;
    const body = "x".repeat(300 * 1024);
    const begun = await sender.post(`/api/runs/${id}/artifact-uploads`, {
      collection: { name: "c", type: "file" },
      manifest: { entries: [{ path: "x", size_bytes: body.length, sha256: "0".repeat(64) }] },
    });
    expect([begun.status, begun.text]).toEqual([200, expect.anything()]);
    const { pathname: path, searchParams } = new URL(begun.json.files[0].parts[0].url as string);
    if (stack().mode === "split") {
      // An S3 server does not ask the gateway; its addresses end soon.
      expect(Number(searchParams.get("X-Amz-Expires"))).toBeLessThanOrEqual(360);
      return;
    }
    const wish: Held = { method: "PUT", path, headers: { "content-type": "application/octet-stream" }, body };
    const put = () => stack().api.call("PUT", path, { key: null, rawBody: body });
    expect((await put()).status).toBe(200);
    const held = await hold(stack(), wish);
    await revoke();
    await until("the refusal", () => held.status() !== 0, WITHIN_MS);
    expect(held.status()).toBe(401);
    await held.closed;
    expect((await put()).status).toBe(401);
  });

  test("a download breaks off within ten seconds, and does not look complete", async () => {
    const { api, headers, revoke } = await newKey(["export:read"]);
    const { id } = (await api.post("/runs", {})).json.run;
    // More than the buffers of the system may hold for a client that reads nothing.
    const sizeBytes = 24 * 1024 * 1024;
    const stored = await api.post(`/api/runs/${id}/artifacts/upload`, {
      name: "weights.bin",
      content_base64: randomBytes(sizeBytes).toString("base64"),
    });
    expect([stored.status, stored.text]).toEqual([200, expect.anything()]);
    const { port, hostname } = new URL(stack().baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /api/artifacts/${stored.json.artifact.id}/download HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: ${headers.authorization}\r\n\r\n`,
    );
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString("latin1")).toMatch(/^HTTP\/1\.1 200 /);
    socket.pause();
    await revoke();
    const started = performance.now();
    let read = first.length;
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      read += chunk.length;
      // Slowly, for as long as bytes arrive.
      socket.pause();
      setTimeout(() => socket.resume(), 100);
    });
    await once(socket.resume(), "close");
    expect(performance.now() - started).toBeLessThan(WITHIN_MS);
    expect(read).toBeLessThan(sizeBytes);
  });
});

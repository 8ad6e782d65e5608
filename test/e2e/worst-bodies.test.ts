import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

// Bodies that cost the most to read, as large as each route takes them: how long another organization waits meanwhile.

const servers = await requireServers(["nats-server", "minio"]);

const ORDINARY_BYTES = 999_000;
const LARGE_BYTES = 4 * 1024 * 1024 - 1000;
const LONG = "12345678901234567";

/** Joins texts to `bytes` bytes. */
function fill(bytes: number, item: (index: number) => string): string {
  const parts: string[] = [];
  for (let i = 0, length = 0; ; i += 1) {
    const text = item(i);
    length += text.length + 1;
    if (length > bytes) return parts.join(",");
    parts.push(text);
  }
}

/** JSON values of `bytes` bytes, each slow in its own way. */
const values: readonly (readonly [string, (bytes: number) => string])[] = [
  ["zeros after a long integer", (bytes) => `[${LONG},${fill(bytes, () => "0")}]`],
  ["decimals after a long integer", (bytes) => `[${LONG},${fill(bytes, (i) => `${i}.50`)}]`],
  ["long integers", (bytes) => `[${fill(bytes, () => LONG)}]`],
  ["empty objects", (bytes) => `[${fill(bytes, () => "{}")}]`],
  ["keys", (bytes) => `{${fill(bytes, (i) => `"${i.toString(36)}":0`)}}`],
  ["objects with a key each", (bytes) => `[${fill(bytes, (i) => `{"${i.toString(36)}":1.0}`)}]`],
  ["escapes", (bytes) => `[${fill(bytes, () => '"\\u0000\\n"')}]`],
];

type Target = readonly [string, string, (run: string) => string, (value: string) => string, number];
const targets: readonly Target[] = [
  ["a run", "POST", () => "/runs", (value) => `{"project":"p","config":{"v":${value}}}`, ORDINARY_BYTES],
  ["a change", "PATCH", (run) => `/runs/${run}`, (value) => `{"notes":${value}}`, ORDINARY_BYTES],
  ["a point", "POST", (run) => `/runs/${run}/metrics`, (value) => `{"step":1,"metrics":${value}}`, LARGE_BYTES],
  ["points", "POST", (run) => `/runs/${run}/metrics/batch`, (value) => `{"points":${value}}`, LARGE_BYTES],
  ["lines", "POST", (run) => `/api/runs/${run}/logs`, (value) => `{"lines":${value}}`, LARGE_BYTES],
  [
    "an attribute",
    "POST",
    (run) => `/api/runs/${run}/attributes`,
    (value) => `{"attributes":[{"path":"a","type":"config","value":${value}}]}`,
    LARGE_BYTES,
  ],
  [
    "a table",
    "POST",
    (run) => `/api/runs/${run}/objects`,
    (value) => `{"key":"t","kind":"table","step":1,"rows":${value}}`,
    LARGE_BYTES,
  ],
  ["events", "POST", (run) => `/api/runs/${run}/traces/events`, (value) => `{"events":${value}}`, LARGE_BYTES],
  ["spans", "POST", () => "/v1/traces", (value) => `{"resourceSpans":${value}}`, LARGE_BYTES],
  ["a report", "POST", () => "/api/reports", (value) => `{"title":"v","blocks":${value}}`, ORDINARY_BYTES],
];

describeWith(servers)("the worst body of each route", () => {
  let stack: OwnStack;
  const people: { api: Api; run: string }[] = [];
  beforeAll(async () => {
    stack = await startStack("split");
    for (let i = 0; i < 2; i += 1) {
      const api = stack.api.as((await stack.organization()).key);
      people.push({ api, run: (await api.post("/runs", { project: "p" })).json.run.id });
    }
  });
  afterAll(() => stack?.stop());

  /** Returns the milliseconds of the neighbor's slowest request until the work is done. */
  async function slowestDuring(work: Promise<unknown>): Promise<number> {
    const { api, run } = people[1]!;
    let isOver = false;
    void work.finally(() => (isOver = true));
    let slowestMs = 0;
    while (!isOver) {
      const startedMs = performance.now();
      const { status } = await api.post(`/runs/${run}/metrics`, { step: 1, metrics: { loss: 1 } });
      expect(status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      await pause(1);
    }
    return slowestMs;
  }

  test("delays other requests by only a small part of its duration", async () => {
    const { api, run } = people[0]!;
    let [waitedMs, tookMs] = [0, 0];
    for (const [what, method, path, wrap, bytes] of targets) {
      for (const [of, value] of values) {
        const rawBody = gzipSync(wrap(value(bytes - 300)));
        const headers = {
          "content-type": "application/json",
          "content-encoding": "gzip",
          "idempotency-key": `${what} of ${of}`.replaceAll(" ", "-"),
        };
        const startedMs = performance.now();
        const sent = api.call(method, path(run), { rawBody, headers });
        waitedMs += await slowestDuring(sent);
        tookMs += performance.now() - startedMs;
        const { status } = await sent;
        expect([`${what} of ${of}`, [200, 400].includes(status), status]).toEqual([`${what} of ${of}`, true, status]);
      }
    }
    // A process that reads a body in one turn makes other requests wait for about all of it.
    expect(waitedMs / tookMs).toBeLessThan(0.5);
  });
});

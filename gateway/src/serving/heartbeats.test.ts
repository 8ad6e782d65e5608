import { expect, test } from "@jest/globals";
import { createLog } from "@tidemark/telemetry";
import { notFound } from "@tidemark/errors";
import { orgId, startApp } from "../app.fixture.ts";
import { allRoutes } from "../api/index.ts";
import type { Route } from "../route.ts";
import { createHeartbeats, type NotedHeartbeat } from "./heartbeats.ts";

const log = createLog({ level: "debug", service: "test", destination: { write: () => undefined } });

function setUp(options: { runsMax?: number } = {}) {
  const reports: (readonly NotedHeartbeat[])[] = [];
  const clock = { ms: 0 };
  const state = { fails: false };
  const signs = createHeartbeats({
    report: (noted) => {
      if (state.fails) return Promise.reject(new Error("gone"));
      reports.push(noted);
      return Promise.resolve();
    },
    nowMs: () => clock.ms,
    log,
    ...options,
  });
  return { reports, clock, state, signs };
}

test("the last of many signs of a run is reported once, with its age", async () => {
  const { reports, clock, signs } = setUp();
  for (let i = 0; i < 100; i += 1) {
    clock.ms = i * 100;
    signs.note("org-1", "run-1");
  }
  signs.note("org-2", "run-2");
  clock.ms = 30_000;
  await signs.flush();
  expect(reports).toEqual([
    [
      { orgId: "org-1", runId: "run-1", ageMs: 20_100n },
      { orgId: "org-2", runId: "run-2", ageMs: 20_100n },
    ],
  ]);
  await signs.flush();
  expect(reports).toHaveLength(1);
});

test("a heartbeat that could not be reported is reported later, with its age by then, unless a newer one arrived", async () => {
  const { reports, clock, state, signs } = setUp();
  signs.note("org", "quiet");
  signs.note("org", "busy");
  state.fails = true;
  await signs.flush();
  clock.ms = 60_000;
  signs.note("org", "busy");
  clock.ms = 61_000;
  state.fails = false;
  await signs.flush();
  expect(reports.flat().toSorted((a, b) => (a.runId < b.runId ? -1 : 1))).toEqual([
    { orgId: "org", runId: "busy", ageMs: 1000n },
    { orgId: "org", runId: "quiet", ageMs: 61_000n },
  ]);
});

test("a report has at most a thousand signs", async () => {
  const { reports, signs } = setUp();
  for (let i = 0; i < 2500; i += 1) signs.note("org", `run-${i}`);
  await signs.flush();
  expect(reports.map((report) => report.length)).toEqual([1000, 1000, 500]);
});

test("memory is bounded while reports fail: what was noted first is forgotten", async () => {
  const { reports, state, signs } = setUp({ runsMax: 3 });
  state.fails = true;
  for (const id of ["a", "b", "c"]) signs.note("org", id);
  await signs.flush();
  for (const id of ["d", "e"]) signs.note("org", id);
  await signs.flush();
  state.fails = false;
  await signs.flush();
  expect(reports.flat().map(({ runId }) => runId)).toEqual(["c", "d", "e"]);
});

test("the end of the process reports the rest", async () => {
  const { reports, signs } = setUp();
  signs.start();
  signs.note("org", "run");
  await signs.stop();
  expect(reports.flat()).toHaveLength(1);
});

/** Writes that name a run but are not a sign of its life: actions of people. */
const BY_PEOPLE = [
  "POST /api/runs/{run_id}/stop",
  "POST /api/runs/{run_id}/forks",
  "DELETE /runs/{run_id}",
  "POST /runs/{run_id}/restore",
];

test("every write of a run's data, and every poll, is a sign of life of the run in its path", () => {
  const named = allRoutes.filter(({ path }) => /\/runs\/\{run_id\}/.test(path));
  const expected = named
    .filter(({ method, path }) => method !== "GET" || path.endsWith("/stop-signal"))
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => !BY_PEOPLE.includes(name));
  const noted = allRoutes.filter(({ isHeartbeat }) => isHeartbeat === true);
  expect(noted.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(expected.toSorted());
});

test("a request that succeeds is a sign of the run in its path; one that fails, or has no identity, is none", async () => {
  const [alive, id] = [[] as string[][], "0190ABCD-0000-4000-8000-00000000000a"];
  const route = (method: "GET" | "POST", fails: boolean, path: string, more: Partial<Route> = {}): Route => ({
    tag: "test",
    summary: "Answers",
    method,
    path,
    rate: "none",
    idempotency: "none",
    schemas: { response: { type: "object" } },
    statuses: [200],
    callers: { kind: "credentials", key: { scopes: ["sdk:ingest"] }, session: { refused: 403 } },
    isHeartbeat: true,
    handle: () => (fails ? Promise.reject(notFound("run")) : Promise.resolve({ body: {} })),
    ...more,
  });
  const app = await startApp({
    routes: [
      route("POST", false, "/writes/{run_id}"),
      route("POST", true, "/missing/{run_id}"),
      route("GET", false, "/plain/{run_id}", { isHeartbeat: false }),
      route("POST", false, "/open/{run_id}", { callers: { kind: "anyone" } }),
      route("POST", false, "/named", {
        isHeartbeat: false,
        handle: () => Promise.resolve({ body: {}, heartbeatRunIds: ["b"] }),
      }),
    ],
    options: { alive: (...noted) => void alive.push(noted) },
  });
  try {
    const headers = { authorization: `Bearer ${app.addKey(["sdk:ingest"])}` };
    const send = async (method: string, path: string, credentials: boolean = true) =>
      (await fetch(`http://127.0.0.1:${app.port}${path}`, { method, ...(credentials ? { headers } : {}) })).status;
    expect(await send("POST", `/missing/${id}`)).toBe(404);
    expect(await send("POST", `/writes/${id}`, false)).toBe(401);
    expect(await send("POST", `/open/${id}`, false)).toBe(200);
    expect(await send("GET", `/plain/${id}`)).toBe(200);
    expect(alive).toEqual([]);
    expect(await send("POST", `/writes/${id}`)).toBe(200);
    expect(await send("POST", "/named")).toBe(200);
    expect(alive).toEqual([
      [orgId, id.toLowerCase()],
      [orgId, "b"],
    ]);
  } finally {
    await app.close();
  }
});

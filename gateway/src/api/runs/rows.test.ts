import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import {
  CreateProjectResponseSchema,
  CreateRunResponseSchema,
  GetOverviewResponseSchema,
  GetRunResponseSchema,
  ListProjectsResponseSchema,
  ListRunsResponseSchema,
  SummarizeRunsResponseSchema,
} from "@tidemark/proto/runs/v1/runs";
import { writeJson } from "../../http/json.ts";
import { encodeCreateProject, encodeListProjects } from "../projects/projects.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { inputOf } from "../route-input.fixture.ts";
import { encodeCreateRun } from "./create.ts";
import { decodeSummarizeRuns, encodeListRuns, encodeOverview, encodeSummarizeRuns } from "./list.ts";
import { encodeGetRun } from "./read.ts";

// One file, because its tables share the messages of a run.

const utf8 = new TextEncoder();
const id = "5b0c0000-0000-4000-8000-00000000000a";
const at = "2026-01-02T03:04:05.678901Z";
const seenAt = "2026-01-02T03:05:00.000Z";

const run = {
  id,
  orgId: id,
  projectId: id,
  project: "demo",
  name: "calm-otter-3",
  status: "running",
  configJson: utf8.encode('{"seed":12345678901234567890}'),
  tags: ["base"],
  metadataJson: utf8.encode('{"notes":"first"}'),
  notes: "first",
  createdAt: at,
  startedAt: at,
  resumeCount: 1,
  resumedAt: at,
  lastSeenAt: seenAt,
  stale: true,
  lifecycle: [{ statusFrom: "finished", statusTo: "running", at, kind: "resume" }],
};

const summary = {
  run,
  runControl: { stopState: "none", displayStatus: "running", stopRequested: false },
  metrics: {
    keys: ["__proto__", "10", "loss"],
    latest: [1, 2, 0.4],
    min: [1, 2, 0.3],
    max: [1, 2, 1],
    mean: [1, 2, 0.6],
    variance: [0, Number.NaN, 0.02],
    count: [1, 1, 12],
    best: [1, 2, 0.3],
    bestStep: [0, 0, 9],
    keysTotal: 3n,
    nextCursor: "",
  },
  artifactCounts: { file: 2n },
};

const row = {
  id,
  org_id: id,
  project_id: id,
  project: "demo",
  name: "calm-otter-3",
  status: "running",
  config: { seed: Number("12345678901234567890") },
  tags: ["base"],
  metadata: { notes: "first" },
  notes: "first",
  created_at: at,
  started_at: at,
  finished_at: null,
  parent_run_id: null,
  forked_from_step: null,
  forked_from_artifact_id: null,
  resume_count: 1,
  resumed_at: at,
  last_seen_at: seenAt,
  stale: true,
  lifecycle: [{ status_from: "finished", status_to: "running", at, kind: "resume" }],
};

test("a created run is the run row and whether it is new", () => {
  const reply = encodeCreateRun(create(CreateRunResponseSchema, { run, created: true }));
  expect(bodyOf(reply, "POST /runs")).toEqual({ run: row, created: true });
  expect(writeJson(reply.body)).toContain('"config":{"seed":12345678901234567890}');
});

test("a read run is its summary, with every field that has no value as null", () => {
  const body = bodyOf(encodeGetRun(create(GetRunResponseSchema, { run: summary })), "GET /runs/{run_id}");
  expect(body["run"]).toEqual({
    ...row,
    run_control: {
      stop_state: "none",
      display_status: "running",
      stop_request_id: null,
      stop_requested: false,
      actor: null,
      stop_requested_at: null,
      stop_acknowledged_at: null,
      stop_completed_at: null,
      updated_at: null,
    },
    latest_metrics: JSON.parse('{"__proto__":1,"10":2,"loss":0.4}') as unknown,
    metric_aggregates: JSON.parse(
      '{"__proto__":{"latest":1,"min":1,"max":1,"mean":1,"variance":0,"count":1,"best":1,"best_step":0},' +
        '"10":{"latest":2,"min":2,"max":2,"mean":2,"variance":null,"count":1,"best":2,"best_step":0},' +
        '"loss":{"latest":0.4,"min":0.3,"max":1,"mean":0.6,"variance":0.02,"count":12,"best":0.3,"best_step":9}}',
    ) as unknown,
    metric_keys: ["__proto__", "10", "loss"],
    metric_keys_truncated: false,
    metric_keys_total: 3,
    metric_next_cursor: null,
    artifact_counts: { checkpoint: 0, rollout: 0, file: 2 },
  });
});

test("values that are not finite are counted where there are any, and a key without others has no figures", () => {
  const [none, one] = [NaN, 1];
  const metrics = {
    keys: ["loss", "nan"],
    ...Object.fromEntries(
      ["latest", "min", "max", "mean", "variance", "best", "bestStep"].map((name) => [name, [one, none]]),
    ),
    count: [1, 0],
    nonFinite: [0, 3],
    nonFiniteStep: [0, 7],
    latestStep: [3, none],
    keysTotal: 2n,
  };
  const reply = encodeGetRun(create(GetRunResponseSchema, { run: { ...summary, metrics } }));
  const body = bodyOf(reply, "GET /runs/{run_id}") as { run: Record<string, unknown> };
  const figures = (value: number | null) => ({
    latest: value,
    min: value,
    max: value,
    mean: value,
    variance: value,
    best: value,
    best_step: value,
  });
  expect(body.run).toMatchObject({
    latest_metrics: { loss: 1, nan: null },
    metric_aggregates: {
      loss: { ...figures(1), count: 1 },
      nan: { ...figures(null), count: 0, non_finite: 3, non_finite_step: 7, latest_step: null },
    },
  });
  expect((body.run["metric_aggregates"] as Record<string, object>)["loss"]).not.toHaveProperty("non_finite");
});

test("a page of metric keys says that there are more, and how to get them", () => {
  const metrics = { ...summary.metrics, keysTotal: 1200n, nextCursor: "bG9zcw" };
  const body = bodyOf(
    encodeGetRun(create(GetRunResponseSchema, { run: { ...summary, metrics } })),
    "GET /runs/{run_id}",
  );
  expect(body["run"]).toMatchObject({
    metric_keys_truncated: true,
    metric_keys_total: 1200,
    metric_next_cursor: "bG9zcw",
  });
});

test("reason and message of a stop show where the service gave them, as null when there is none", () => {
  const runControl = {
    stopState: "requested",
    displayStatus: "stopping",
    stopRequested: true,
    stopRequestId: id,
    actor: "user",
    stopRequestedAt: at,
    updatedAt: at,
    details: { reason: "nan loss" },
  };
  const body = bodyOf(
    encodeGetRun(create(GetRunResponseSchema, { run: { ...summary, runControl } })),
    "GET /runs/{run_id}",
  );
  expect(body["run"]).toHaveProperty("run_control", {
    stop_state: "requested",
    display_status: "stopping",
    stop_request_id: id,
    stop_requested: true,
    actor: "user",
    stop_requested_at: at,
    stop_acknowledged_at: null,
    stop_completed_at: null,
    updated_at: at,
    reason: "nan loss",
    completion_message: null,
  });
});

test("a list is summaries without a cursor of their keys", async () => {
  const body = bodyOf(await encodeListRuns(create(ListRunsResponseSchema, { runs: [summary, summary] })), "GET /runs");
  expect(body["runs"]).toHaveLength(2);
  expect(body["runs"]).toMatchObject([row, row]);
  expect(body["runs"]).not.toHaveProperty("0.metric_next_cursor");
  expect(bodyOf(await encodeListRuns(create(ListRunsResponseSchema, {})), "GET /runs")).toEqual({ runs: [] });
});

/** The answer of GET /api/runs/summary to a query. */
const summarized = async (
  reply: Parameters<typeof create<typeof SummarizeRunsResponseSchema>>[1],
  query: Readonly<Record<string, string>> = {},
) =>
  bodyOf(
    await encodeSummarizeRuns(create(SummarizeRunsResponseSchema, reply), decodeSummarizeRuns(inputOf({ query }))),
    "GET /api/runs/summary",
  );

test("a page of summaries says how many runs there are and how to continue", async () => {
  const reply = { runs: [summary], metricKeys: ["10", "loss"], total: 100_001n, nextCursor: "bmV4dA" };
  const body = await summarized(reply, { projection: "everything" });
  expect(body).toEqual({
    runs: [expect.objectContaining({ ...row, metric_keys: ["__proto__", "10", "loss"] })],
    metric_keys: ["10", "loss"],
    total: 100_001,
    next_cursor: "bmV4dA",
    page_info: { pagination: "cursor", has_next_page: true },
  });
});

test("the last page of summaries has no cursor: null, not an empty text", async () => {
  expect(await summarized({ total: 0n })).toEqual({
    runs: [],
    metric_keys: [],
    total: 0,
    next_cursor: null,
    page_info: { pagination: "cursor", has_next_page: false },
  });
});

test("rows for choosing runs have documents and control, and no metrics", async () => {
  const runControl = { ...summary.runControl, stopState: "requested", displayStatus: "stopping", stopRequested: true };
  const selected = { run, runControl, metrics: {}, artifactCounts: {} };
  const body = await summarized({ runs: [selected], total: 1n }, { projection: "selection" });
  expect(body).toMatchObject({ projection: "selection", metric_keys: [], total: 1, next_cursor: null });
  expect(body["runs"]).toEqual([
    {
      ...row,
      run_control: expect.objectContaining({ stop_state: "requested", display_status: "stopping" }),
      latest_metrics: {},
      metric_aggregates: {},
      metric_keys: [],
      metric_keys_truncated: false,
      metric_keys_total: 0,
      artifact_counts: { checkpoint: 0, rollout: 0, file: 0 },
    },
  ]);
});

test("metrics are written with every digit, each key as JSON escapes it, and what is not a number as null", async () => {
  const values = [-0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, Number.NaN];
  const keys = ['"', "\\", "\n", "é", "\u{1F600}"];
  const column = { latest: values, min: values, max: values, mean: values, variance: values, best: values };
  const metrics = { ...column, keys, count: [1, 2, 3, 4, 5], bestStep: [0, 1, 2, 3, 0.5], keysTotal: 6n };
  const reply = await encodeListRuns(create(ListRunsResponseSchema, { runs: [{ ...summary, metrics }] }));
  const [listed] = bodyOf(reply, "GET /runs")["runs"] as Record<string, Record<string, unknown>>[];
  expect(listed?.["latest_metrics"]).toEqual({
    '"': 0,
    "\\": 5e-324,
    "\n": 1.7976931348623157e308,
    é: 0.30000000000000004,
    "\u{1F600}": null,
  });
  expect(listed?.["metric_aggregates"]?.["\\"]).toEqual({
    latest: 5e-324,
    min: 5e-324,
    max: 5e-324,
    mean: 5e-324,
    variance: 5e-324,
    count: 2,
    best: 5e-324,
    best_step: 1,
  });
  expect(listed).toMatchObject({ metric_keys: keys, metric_keys_truncated: true, metric_keys_total: 6 });
});

const figures = {
  totalRuns: 7n,
  activeRuns: 3n,
  failedRuns: 2n,
  stoppingRuns: 1n,
  stoppedRuns: 2n,
  bestValue: -0.5,
  metricPoints: 9_000_000_000n,
};

test.each([
  ["the figures", figures, -0.5],
  ["a best value of zero, which is one", { ...figures, bestValue: 0 }, 0],
  ["no best value as null", { ...figures, bestValue: undefined }, null],
])("an overview has %s", (_what, reply, best) => {
  const { bestValue, ...rest } = reply;
  const message = create(GetOverviewResponseSchema, bestValue === undefined ? rest : { ...rest, bestValue });
  expect(bodyOf(encodeOverview(message), "GET /api/overview")).toEqual({
    overview: {
      total_runs: 7,
      active_runs: 3,
      failed_runs: 2,
      stopping_runs: 1,
      stopped_runs: 2,
      best_eval_return: best,
      metric_points: 9_000_000_000,
    },
  });
});

test("an overview of nothing is zeros and null", () => {
  expect(bodyOf(encodeOverview(create(GetOverviewResponseSchema, {})), "GET /api/overview")).toEqual({
    overview: {
      total_runs: 0,
      active_runs: 0,
      failed_runs: 0,
      stopping_runs: 0,
      stopped_runs: 0,
      best_eval_return: null,
      metric_points: 0,
    },
  });
});

test("projects have all their fields", () => {
  const project = { id, orgId: id, name: "demo", createdAt: at };
  const json = { id, org_id: id, name: "demo", description: null, created_at: at };
  expect(bodyOf(encodeCreateProject(create(CreateProjectResponseSchema, { project })), "POST /projects")).toEqual({
    project: json,
  });
  const list = create(ListProjectsResponseSchema, { projects: [{ ...project, description: "d" }], total: 7n });
  expect(bodyOf(encodeListProjects(list), "GET /projects")).toEqual({
    projects: [{ ...json, description: "d" }],
    total: 7,
  });
});

test("a row of an answer that was stored before runs had signs of life shows its creation", () => {
  const { lastSeenAt: _seen, stale: _stale, ...before } = run;
  const stored = create(CreateRunResponseSchema, { run: before, created: true });
  expect(bodyOf(encodeCreateRun(stored), "POST /runs")["run"]).toMatchObject({ last_seen_at: at, stale: false });
});

test("attaching to a run is a sign of its life, and a new one needs none", () => {
  const answer = (created: boolean) =>
    encodeCreateRun(create(CreateRunResponseSchema, { run, created })).heartbeatRunIds;
  expect([answer(true), answer(false)]).toEqual([undefined, [id]]);
});

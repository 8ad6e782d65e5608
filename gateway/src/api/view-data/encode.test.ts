import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { QueryMetricSeriesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { RunSummarySchema } from "@tidemark/proto/runs/v1/runs";
import { bodyOf } from "../response-schema.fixture.ts";
import type { ViewData } from "./read.ts";
import { encodeViewData, VIEW_BYTES_MAX } from "./encode.ts";
import { readPanels } from "./panels.ts";

const [a, b] = ["0c9b8a1e-2222-4222-8333-444455556666", "0c9b8a1e-3333-4222-8333-444455556666"];
const utf8 = new TextEncoder();
const at = "2026-01-02T03:04:05Z";

const summaryOf = (id: string, metrics: MessageInitShape<typeof RunSummarySchema>["metrics"] = {}, config = "{}") =>
  create(RunSummarySchema, {
    run: {
      id,
      orgId: a,
      projectId: b,
      project: "p",
      name: "run",
      status: "running",
      configJson: utf8.encode(config),
      metadataJson: utf8.encode("{}"),
      createdAt: at,
      startedAt: at,
    },
    runControl: { stopState: "none", displayStatus: "running" },
    metrics,
  });

const loss = {
  keys: ["loss"],
  latest: [1.5],
  min: [1],
  max: [2],
  mean: [1.25],
  variance: [Number.NaN],
  count: [2],
  best: [1],
  bestStep: [3],
  keysTotal: 1n,
};
const aggregate = { latest: 1.5, min: 1, max: 2, mean: 1.25, variance: null, count: 2, best: 1, best_step: 3 };
const points = { steps: [0, 1], values: [2, 1], createdUs: [0, 0], timestampsUs: [] };

const dataOf = (more: Partial<ViewData> = {}): ViewData => ({
  content: readPanels(
    {
      sections: [
        {
          panels: [
            { id: "p1", title: "Loss", metricKey: "loss" },
            { metricKey: "loss", type: "bar", xField: "config:lr" },
            { metricKey: "none", type: "pie" },
          ],
        },
      ],
    },
    20,
  ),
  runIds: [a, b],
  panelsMax: 20,
  pointLimit: 500,
  warnings: ["w"],
  runs: [summaryOf(a, loss), summaryOf(b)],
  series: [
    ["loss", create(QueryMetricSeriesResponseSchema, { series: [{ points, sampled: true }, { points: {} }] }).series],
  ],
  pointsPerSeries: 250,
  generatedAt: at,
  ...more,
});
const ROUTE = "POST /api/workspace-view-data";

test("the data of a view has its runs, its series and the values of its panels", () => {
  const body = bodyOf(encodeViewData(dataOf()), ROUTE) as { view_data: Record<string, unknown> };
  const panel = { section_id: "section-1", section_name: "Section 1", metric_key: "loss", warnings: [] };
  const values = [
    { run_id: a, latest: 1.5, aggregate },
    { run_id: b, latest: null, aggregate: null },
  ];
  expect(body.view_data).toEqual({
    schema_version: 1,
    generated_at: at,
    run_ids: [a, b],
    runs: [
      expect.objectContaining({ id: a, metric_aggregates: { loss: aggregate }, latest_metrics: { loss: 1.5 } }),
      expect.objectContaining({ id: b, metric_keys: [] }),
    ],
    metric_keys: ["loss", "none"],
    metric_series: [
      {
        metric_key: "loss",
        series: [
          {
            run_id: a,
            metrics: [
              { key: "loss", step: 0, value: 2, created_at: "1970-01-01T00:00:00Z" },
              { key: "loss", step: 1, value: 1, created_at: "1970-01-01T00:00:00Z" },
            ],
            truncated: false,
            sampled: true,
          },
          { run_id: b, metrics: [], truncated: false, sampled: false },
        ],
      },
    ],
    panels: [
      {
        ...panel,
        id: "p1",
        title: "Loss",
        type: "line",
        data_kind: "metric_series",
        series_key: "loss",
        summary_values: values,
      },
      {
        ...panel,
        id: "panel-2",
        title: "loss",
        type: "bar",
        x_field: "config:lr",
        data_kind: "metric_summary",
        series_key: null,
        summary_values: values,
      },
      {
        ...panel,
        id: "panel-3",
        title: "none",
        type: "pie",
        metric_key: "none",
        data_kind: "metric_summary",
        series_key: null,
        summary_values: [
          { run_id: a, latest: null, aggregate: null },
          { run_id: b, latest: null, aggregate: null },
        ],
        warnings: [expect.stringContaining("pie")],
      },
    ],
    warnings: ["w"],
    limits: {
      run_ids: 100,
      panels: 20,
      points_per_series: 250,
      max_points_per_series: 500,
      total_points: 2,
      max_total_points: 50_000,
      max_response_bytes: VIEW_BYTES_MAX,
    },
  });
});

test("a view without panels has a series alone", () => {
  const data = dataOf({ content: readPanels({ metricKey: "loss" }, 20) });
  const body = bodyOf(encodeViewData(data), ROUTE) as { view_data: { metric_series: unknown[] } };
  expect(body.view_data).toMatchObject({ panels: [], metric_keys: ["loss"] });
  expect(body.view_data.metric_series).toHaveLength(1);
});

test("data beyond 10 MiB is refused, and none that is just within", () => {
  const empty = encodeViewData(dataOf()).bytes!.length;
  const withConfig = (bytes: number) =>
    dataOf({ runs: [summaryOf(a, loss, `{"a":"${"x".repeat(bytes)}"}`), summaryOf(b)] });
  const room = VIEW_BYTES_MAX - empty - '"a":""'.length;
  expect(encodeViewData(withConfig(room)).bytes).toHaveLength(VIEW_BYTES_MAX);
  expect(() => encodeViewData(withConfig(room + 1))).toThrow(
    expect.objectContaining({ reason: "bad_request", message: expect.stringContaining("ask for fewer") }),
  );
});

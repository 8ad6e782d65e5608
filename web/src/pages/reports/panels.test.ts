import { describe, expect, test } from "@jest/globals";
import type { RunDetail } from "../../api/run-types.ts";
import { memberRun, readSharedData, type GridRun } from "./grid-runs.ts";
import {
  barsOf,
  chartKeys,
  columnsOf,
  columnsText,
  parallelOf,
  pointsOf,
  runIdsOf,
  runsOfPanel,
  tableFields,
  type Grid,
} from "./panels.ts";

const grid = {
  kind: "panel_grid",
  runsets: [
    { name: "a", projects: ["p"], pinned_run_ids: ["1", "2"] },
    { name: "b", projects: [], pinned_run_ids: null },
  ],
  panels: [
    { type: "line", metric_key: "loss" },
    { type: "bar", metric_key: "only bars" },
    { type: "scalar", metric_key: "acc", agg: "max" },
    { type: "run_comparer", run_ids: ["2", "3"], fields: ["config.lr"] },
    { type: "scatter" },
  ],
} as const;

test("a grid names metrics, runs and columns once", () => {
  expect(chartKeys(grid)).toEqual(["loss", "acc"]);
  expect(runIdsOf(grid)).toEqual(["1", "2", "3"]);
  expect(tableFields(grid)).toEqual(["config.lr", "metrics.acc.max"]);
  expect(tableFields({ ...grid, panels: [] })).toBeUndefined();
});

test("a figure is NaN where the newest value of a metric is not finite, or none is", () => {
  const loss = {
    latest: 1,
    min: 0,
    max: 2,
    mean: 1,
    count: 3,
    best: 2,
    best_step: 4,
    non_finite: 2,
    non_finite_step: 9,
  };
  const never = { latest: null, min: null, max: null, mean: null, count: 0, best: null, best_step: null };
  const run = memberRun({
    metric_aggregates: {
      loss: { ...loss, latest_step: 4 },
      back: { ...loss, latest_step: 9 },
      never: { ...never, non_finite: 1, non_finite_step: 3, latest_step: null },
    },
    run_control: { display_status: "finished" },
  } as unknown as RunDetail);
  const columns = ["loss", "loss.best", "back", "never", "never.max", "never.count", "none"];
  expect(columns.map((column) => run.valueOf(`metrics.${column}`))).toEqual(["NaN", 2, 1, "NaN", "NaN", 0, undefined]);
  const points = pointsOf({ x_metric: "loss", y_metric: "back" } as never, [run]);
  expect(points).toMatchObject([{ x: null, y: 1 }]);
});

test("bars have numbers of metrics and of configs, and no value for texts", () => {
  const columns: Readonly<Record<string, string | number>> = { "metrics.loss.best": 0.5, "config.lr": 0.1 };
  const runs = ["a", "b"].map((id) => ({
    id,
    name: `run ${id}`,
    valueOf: (name: string) => columns[name],
  })) as GridRun[];
  const text = { id: "t", name: "text", valueOf: () => "0.1" } as unknown as GridRun;
  const valuesOf = (panel: Parameters<typeof barsOf>[0]) =>
    barsOf(panel, [runs[0]!, text], (id) => `color of ${id}`).map(({ id, color, value }) => [id, color, value]);
  expect(valuesOf({ type: "bar", metric_key: "loss", agg: "best" })).toEqual([
    ["a", "color of a", 0.5],
    ["t", "color of t", null],
  ]);
  expect(valuesOf({ type: "bar", config_key: "lr" })[0]).toEqual(["a", "color of a", 0.1]);
  expect(valuesOf({ type: "bar", metric_key: "loss" })[0]![2]).toBeNull();
});

test("columns are read from a run", () => {
  const one = { latest: 1, min: 0, max: 2, mean: 1, count: 3, best: 2, best_step: 4 };
  const run = memberRun({
    name: "r",
    tags: ["a", "b"],
    notes: null,
    config: { lr: 0.1, optim: { betas: [1, 2] }, "a.b": "flat", seed: 12345678901234567891n },
    metric_aggregates: { loss: one, "val/loss": one },
    run_control: { display_status: "stopped" },
  } as unknown as RunDetail);
  expect(run.status).toBe("stopped");
  const columns = [
    "config.lr",
    "config.optim.betas",
    "config.a.b",
    "config.none",
    "config.seed",
    "metrics.loss",
    "metrics.val/loss.best",
    "metric/loss/max",
    "tags",
    "notes",
    "constructor",
  ];
  expect(columns.map((column) => run.valueOf(column))).toEqual([
    0.1,
    "[1,2]",
    "flat",
    undefined,
    "12345678901234567891",
    1,
    2,
    2,
    "a, b",
    undefined,
    undefined,
  ]);
});

const run = (id: string, config: object, metrics: Readonly<Record<string, number | null>>): GridRun =>
  memberRun({
    id,
    name: `run ${id}`,
    config,
    metric_aggregates: Object.fromEntries(Object.entries(metrics).map(([key, latest]) => [key, { latest, best: 99 }])),
    run_control: {},
  } as unknown as RunDetail);

const runs = [
  run("1", { lr: 0.1, opt: { name: "adam" }, on: true }, { loss: 1, acc: 0.5, "loss.best": 7 }),
  run("2", { lr: 0.2 }, { loss: null }),
];

test("a scatter plot has the latest values of two metrics, and null where a run has none", () => {
  expect(pointsOf({ type: "scatter", x_metric: "loss", y_metric: "acc" }, runs)).toEqual([
    { id: "1", name: "run 1", x: 1, y: 0.5 },
    { id: "2", name: "run 2", x: null, y: null },
  ]);
  expect(pointsOf({ type: "scatter", x_metric: "loss.best", y_metric: "constructor" }, runs)[0]).toMatchObject({
    x: 7,
    y: null,
  });
});

test("parallel coordinates have each column once: of configs and of metrics", () => {
  const dimensions = [
    { config_key: "lr" },
    { config_key: "opt.name" },
    { config_key: "on" },
    { config_key: "lr" },
    { metric_key: "lr" },
    { metric_key: "loss" },
  ];
  const found = parallelOf({ type: "parallel_coordinates", dimensions }, runs);
  expect(found.columns.map(({ name }) => name)).toEqual([
    "config.lr",
    "config.opt.name",
    "config.on",
    "metrics.lr",
    "metrics.loss",
  ]);
  expect(found.runs.map(({ values }) => values)).toEqual([
    [0.1, "adam", "true", null, 1],
    [0.2, null, null, null, null],
  ]);
  expect(parallelOf({ type: "parallel_coordinates" }, runs).columns).toEqual([]);
});

test("a panel shows the runs that its runset pins, else all of the grid", () => {
  const grid = {
    kind: "panel_grid",
    runsets: [
      { name: "a", projects: [], pinned_run_ids: ["2"] },
      { name: "b", projects: ["p"], pinned_run_ids: null },
    ],
    panels: [],
  } as Grid;
  const idsOf = (index?: number) =>
    runsOfPanel(grid, { type: "scatter", ...(index === undefined ? {} : { runset_index: index }) }, runs).map(
      ({ id }) => id,
    );
  expect([idsOf(), idsOf(1), idsOf(9)]).toEqual([["2"], ["1", "2"], ["1", "2"]]);
});

describe("the columns that a person edits", () => {
  test("are written and read", () => {
    const dimensions = [{ config_key: "lr" }, { metric_key: "a,b" }, { metric_key: "config.x" }];
    const text = "config.lr, metrics.a\\,b, metrics.config.x";
    expect(columnsText(dimensions)).toBe(text);
    expect(columnsOf(text)).toEqual(dimensions);
    expect(columnsOf(" loss,config.,  ,loss, metrics.")).toEqual([{ metric_key: "loss" }]);
  });

  test("stay as they were stored where they say the same", () => {
    const stored = [{ metric_key: "loss", config_key: "lr", color: "red" }];
    expect(columnsOf("config.lr, metrics.loss", stored)).toEqual([{ config_key: "lr" }, stored[0]]);
  });
});

test("the data of a share link are found by their block, and show the same columns", () => {
  const columns = { step: [0, 1, 2], value: [0.5, null, 10n ** 20n], time: [1, 2, 3] };
  const series = [
    { run_id: "1", key: "loss", columns, truncated: false, sampled: false },
    { run_id: "2", key: "loss", columns: { step: [] }, truncated: false, sampled: false },
  ];
  const values = { "config.lr": 0.1, "config.deep": { a: [1] }, "metrics.loss.latest": 2 };
  const runs = [{ id: "1", name: "best", status: "running", values }];
  const { grids } = readSharedData({ view_data: { generated_at: "now", grids: [{ block: 3, runs, series }] } });
  expect([...grids.keys()]).toEqual([3]);
  const { runs: found, series: given } = grids.get(3)!;
  expect(found).toMatchObject([{ id: "1", name: "best", running: true, project: undefined }]);
  const names = ["config.lr", "config.deep", "metrics.loss.latest", "constructor"];
  expect(names.map((name) => found[0]!.valueOf(name))).toEqual([0.1, '{"a":[1]}', 2, undefined]);
  expect(given.get("loss")!.map(({ runId, y }) => [runId, [...y]])).toEqual([["1", [0.5, Number.NaN, 1e20]]]);
  expect(pointsOf({ type: "scatter", x_metric: "loss", y_metric: "acc" }, found)).toMatchObject([{ x: 2, y: null }]);
});

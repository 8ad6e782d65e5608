import { describe, expect, test } from "@jest/globals";
import type { RunDetail } from "../../api/run-types.ts";
import {
  chartKeys,
  columnsOf,
  columnsText,
  parallelOf,
  pointsOf,
  runIdsOf,
  runsOfPanel,
  tableFields,
  valueOfField,
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
    { type: "bar", metric_key: "loss" },
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

test("columns are read from a run", () => {
  const one = { latest: 1, min: 0, max: 2, mean: 1, count: 3, best: 2, best_step: 4 };
  const run = {
    name: "r",
    tags: ["a", "b"],
    notes: null,
    config: { lr: 0.1, optim: { betas: [1, 2] }, "a.b": "flat" },
    metric_aggregates: { loss: one, "val/loss": one },
  } as unknown as RunDetail;
  const columns = [
    "config.lr",
    "config.optim.betas",
    "config.a.b",
    "config.none",
    "metrics.loss",
    "metrics.val/loss.best",
    "metric/loss/max",
    "tags",
    "notes",
    "constructor",
  ];
  expect(columns.map((column) => valueOfField(run, column))).toEqual([
    0.1,
    "[1,2]",
    "flat",
    undefined,
    1,
    2,
    2,
    "a, b",
    undefined,
    undefined,
  ]);
});

const run = (id: string, config: object, metrics: Readonly<Record<string, number | null>>): RunDetail =>
  ({
    id,
    name: `run ${id}`,
    config,
    metric_aggregates: Object.fromEntries(Object.entries(metrics).map(([key, latest]) => [key, { latest, best: 99 }])),
  }) as unknown as RunDetail;

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

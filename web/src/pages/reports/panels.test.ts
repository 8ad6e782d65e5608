import { expect, test } from "@jest/globals";
import type { RunDetail } from "../../api/run-types.ts";
import { chartKeys, runIdsOf, tableFields, valueOfField } from "./panels.ts";

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

import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { MetricAggregatesSchema, RunSchema } from "@tidemark/proto/runs/v1/runs";
import { writeJson } from "../../../http/json.ts";
import { columnOf, keysOfColumns, valuesOf } from "./columns.ts";
import { columnNames, readGrids } from "./grids.ts";

const [A, B] = ["0c9b8a1e-2222-4222-8333-444455556666", "1c9b8a1e-2222-4222-8333-444455556666"] as const;
const grid = (panels: unknown, pinned: unknown = [A]) => ({
  kind: "panel_grid",
  runsets: [{ name: "main", projects: ["p", "q", "p", ""], pinned_run_ids: pinned }],
  panels,
});
const line = (key: string) => ({ type: "line", metric_key: key });

test("a block shows its metrics and columns, each once, of the runs that it names", () => {
  const panels = [
    line("loss"),
    { type: "bar", metric_key: "loss" },
    { type: "bar", metric_key: "loss", agg: "best" },
    { type: "bar", config_key: "seed" },
    { type: "scalar", metric_key: "acc" },
    { type: "scatter", x_metric: "a", y_metric: "b" },
    { type: "parallel_coordinates", dimensions: [{ config_key: "lr" }, { metric_key: "acc" }] },
    { type: "run_comparer", run_ids: [B, "no id"], fields: ["config.lr", "tags"] },
    { type: "image_panel", url: "u" },
  ];
  const { grids, warnings } = readGrids([{ kind: "heading" }, grid(panels, [A.toUpperCase(), "x", A])]);
  expect(warnings).toEqual([]);
  expect(grids).toMatchObject([{ block: 1, runIds: [A, B], projects: [], lineKeys: ["loss"] }]);
  expect([...grids[0]!.columns.keys()]).toEqual([
    "metrics.loss.latest",
    "metrics.loss.best",
    "config.seed",
    "metrics.acc.latest",
    "metrics.a.latest",
    "metrics.b.latest",
    "config.lr",
    "tags",
  ]);
});

test("a block without runs shows its projects, and one without data nothing", () => {
  expect(readGrids([grid([line("a")], null)]).grids).toMatchObject([{ runIds: [], projects: ["p", "q"] }]);
  const ofObjects = ["histogram", "roc_curve", "pr_curve", "confusion_matrix"].map((type) => ({
    type,
    object_key: "o",
  }));
  const none = [grid([{ type: "markdown_panel", text: "" }]), grid([]), grid(ofObjects), { kind: "panel_grid" }];
  expect(readGrids(none).grids).toEqual([]);
});

test("a report shows 50 panels and 100 runs, and says that others were left out", () => {
  const ids = Array.from({ length: 150 }, (_, i) => `${A.slice(0, -4)}${String(i + 1000)}`);
  const { grids, warnings } = readGrids([
    grid(
      Array.from({ length: 49 }, (_, i) => line(`k${i}`)),
      ids.slice(0, 90),
    ),
    grid([line("a"), line("b")], ids.slice(80)),
    grid([line("c")], ids),
  ]);
  expect(grids.map(({ runIds, lineKeys }) => [runIds.length, lineKeys.length])).toEqual([
    [90, 49],
    [20, 1],
  ]);
  expect(warnings).toEqual([
    "a report shows the data of 50 panels; others were left out",
    "a report shows the data of 100 runs; others were left out",
  ]);
});

test("a block whose runs are all beyond the bound does not show the newest ones instead", () => {
  const ids = Array.from({ length: 101 }, (_, i) => `${A.slice(0, -4)}${String(i + 1000)}`);
  expect(readGrids([grid([line("a")], ids.slice(0, 100)), grid([line("a")], ids.slice(100))]).grids).toHaveLength(1);
});

test("names of columns of dimensions without a metric are those of the config", () => {
  const dimensions = [{ config_key: "a.b" }, { metric_key: "m", config_key: "c" }, {}];
  expect(columnNames({ type: "parallel_coordinates", dimensions })).toEqual([
    "config.a.b",
    "metrics.m.latest",
    "config.",
  ]);
});

test("columns have the values that reports of members show", () => {
  const config = '{"lr":0.10,"a":{"b":[1]},"a.c":null,"seed":12345678901234567891,"secret":"hush"}';
  const run = create(RunSchema, { name: "r", tags: ["x", "y"], configJson: new TextEncoder().encode(config) });
  const metrics = create(MetricAggregatesSchema, {
    keys: ["loss", "odd.best"],
    latest: [1, 5],
    best: [0.5, 6],
    min: [0.5, 5],
    max: [Number.NaN, 7],
    mean: [0.75, 6],
    count: [2, 3],
  });
  const names = ["config.lr", "config/a.b", "config.a.c", "config.seed", "config.none", "config.", "config", "secret"];
  const figures = ["metrics.loss", "metric/loss/best", "metrics.odd.best", "metrics.odd.best.min", "metrics.loss.max"];
  const columns = new Map([...names, ...figures, "tags", "status", "notes"].map((name) => [name, columnOf(name)]));
  expect(keysOfColumns(columns.values())).toEqual(["loss", "loss/best", "odd", "odd.best", "odd.best.min", "loss.max"]);
  expect(writeJson(valuesOf({ run, status: "finished", metrics: [metrics] }, columns))).toBe(
    '{"config.lr":0.10,"config/a.b":[1],"config.seed":12345678901234567891,"metrics.loss":1,"metric/loss/best":0.5,' +
      '"metrics.odd.best":5,"metrics.odd.best.min":5,"tags":"x, y","status":"finished"}',
  );
});

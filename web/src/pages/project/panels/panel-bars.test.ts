import { expect, test } from "@jest/globals";
import type { TableRun } from "../runs/shown-runs.ts";
import { barsOfGroups, barsOfRuns } from "./panel-bars.ts";

const run = (id: string, columns: Readonly<Record<string, unknown>>): TableRun =>
  ({ id, name: `run ${id}`, tags: [], columns }) as unknown as TableRun;
const runs = [
  run("a", { "metrics.loss.best": 1, "config.lr": 0.1 }),
  run("b", { "metrics.loss.best": 3, "config.lr": 0.1 }),
  run("c", { "config.lr": 0.1 }),
  run("d", { "metrics.loss.best": 2n ** 53n, "config.lr": 1 }),
];
const color = (id: string): string => `color of ${id}`;

test("runs have bars in their order", () => {
  expect(barsOfRuns(runs, "metrics.loss.best", color).map(({ name, value }) => [name, value])).toEqual([
    ["run a", 1],
    ["run b", 3],
    ["run c", null],
    ["run d", 2 ** 53],
  ]);
});

test("groups have the mean of their runs with a number, and the deviation of the population", () => {
  const [first, second] = barsOfGroups(runs, ["config.lr"], "metrics.loss.best", color);
  expect(first).toEqual({
    id: "group:lr=0.1",
    name: "lr=0.1",
    color: "color of group:lr=0.1",
    value: 2,
    spread: { std: 1, count: 2 },
  });
  expect(second).toMatchObject({ name: "lr=1", value: null, spread: undefined });
});

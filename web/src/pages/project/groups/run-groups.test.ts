import { describe, expect, test } from "@jest/globals";
import type { TableRun } from "../runs/shown-runs.ts";
import { groupColumns, groupRuns, searchOfGroup } from "./run-groups.ts";

const run = (id: string, columns: Readonly<Record<string, unknown>>, tags: readonly string[] = []): TableRun =>
  ({ id, name: id, tags, columns }) as unknown as TableRun;

describe("groups of runs", () => {
  const runs = [
    run("a", { "config.lr": 0.1, "metrics.loss.best": 1 }),
    run("b", { "config.lr": 0.1, "metrics.loss.best": 3 }),
    run("c", { "config.lr": "0.1", "metrics.loss.best": 9 }),
    run("d", { "metrics.loss.best": null }),
    run("e", { "config.lr": 0.1, "metrics.loss.best": Number.NaN }),
  ];

  test("have the runs of equal values, the largest first; a string is not a number, and missing values are a group", () => {
    const groups = groupRuns(runs, ["config.lr"], []);
    expect(groups.map((group) => [group.values, group.runs.map(({ id }) => id)])).toEqual([
      [[0.1], ["a", "b", "e"]],
      [["0.1"], ["c"]],
      [[null], ["d"]],
    ]);
  });

  test("tell integers apart that differ in the last digit", () => {
    const seeds = [2 ** 53, 2n ** 53n + 1n].map((seed) => run(`seed ${seed}`, { "config.seed": seed }));
    expect(groupRuns(seeds, ["config.seed"], []).map((group) => group.runs.length)).toEqual([1, 1]);
  });

  test("show how numbers spread, over the runs that have them", () => {
    const [first, , last] = groupRuns(runs, ["config.lr"], ["metrics.loss.best", "config.none"]);
    expect([...first!.spreads]).toEqual([["metrics.loss.best", { mean: 2, std: 1, count: 2 }]]);
    expect([...last!.spreads]).toEqual([]);
  });

  test("by tags ignore their order", () => {
    const groups = groupRuns([run("a", {}, ["x", "y"]), run("b", {}, ["y", "x"]), run("c", {}, ["x"])], ["tags"], []);
    expect(groups.map(({ values, runs: of }) => [values, of.length])).toEqual([
      [[["x", "y"]], 2],
      [[["x"]], 1],
    ]);
  });

  test("by all but some keys take the other ones, and none below those", () => {
    const by = { names: ["config.seed", "config.data"], allBut: true };
    expect(groupColumns(by, ["lr", "seed", "data.path", "database"], [])).toEqual(["config.lr", "config.database"]);
    expect(groupColumns({ names: ["config.lr", "tags"], allBut: false }, ["x"], [])).toEqual(["config.lr", "tags"]);
    const many = Array.from({ length: 80 }, (_, i) => `k${i}`);
    expect(groupColumns({ names: [], allBut: true }, many, ["metrics.a", "metrics.b"])).toHaveLength(48);
  });
});

describe("the search of a group", () => {
  test.each<[string, string[], unknown[], string | undefined]>([
    ["a number", ["config.lr"], [0.1], "config.lr=0.1"],
    ["a large integer", ["config.seed"], [2n ** 53n + 1n], "config.seed=9007199254740993"],
    ["a text with a number", ["config.a.b", "config.lr"], ["x y", 3], 'config.a.b="x y" config.lr=3'],
    ["tags", ["tags"], [["a", "b c"]], 'tag:"a" tag:"b c"'],
    ["what is missing", ["config.lr"], [null], undefined],
    ["no tags", ["tags"], [[]], undefined],
    ["a list", ["config.lr"], [[1, 2]], undefined],
    ["a quote", ["config.lr"], ['a"b'], undefined],
    ["a key with a space", ["config.my lr"], [1], undefined],
  ])("of %s", (_, by, values, expected) => {
    expect(searchOfGroup(by, values)).toBe(expected);
  });
});

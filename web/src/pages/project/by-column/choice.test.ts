import { describe, expect, test } from "@jest/globals";
import { AXES_MAX, axesOf, byOf, choiceOf, firstMetric, queryOfChoice, type ColumnChoice } from "./choice.ts";

const read = (query: Readonly<Record<string, string | undefined>>): ColumnChoice =>
  choiceOf(
    new URLSearchParams(Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  );

const usual = read({});
const ranked = [{ column: "config.lr" }, { column: "config.depth" }];

describe("the choice of columns in an address", () => {
  test.each<[string, Partial<ColumnChoice>]>([
    ["as usual", {}],
    ["a metric", { of: "metrics.eval/loss.best" }],
    ["a parameter on a logarithmic axis", { by: "config.lr", byLog: true }],
    ["both axes logarithmic", { ofLog: true, byLog: true }],
    ["a color and columns", { tint: "config.optimizer.name", axes: ["config.a", "config.b"] }],
  ])("%s is read as it was written", (_, changes) => {
    const choice = { ...usual, ...changes };
    expect(read(queryOfChoice(choice))).toEqual(choice);
  });

  test.each([
    ["a metric that is a config", { of: "config.lr" }],
    ["a parameter that is a metric", { by: "metrics.loss" }],
    ["a color that is a field", { tint: "status" }],
    ["columns that are none", { axes: "lr,metrics.loss" }],
    ["an unknown axis", { logs: "x" }],
  ])("%s counts as not chosen", (_, query) => {
    expect(read(query)).toEqual(usual);
  });

  test("has a bounded number of columns", () => {
    const axes = Array.from({ length: AXES_MAX + 5 }, (_, i) => `config.c${i}`).join(",");
    expect(read({ axes }).axes).toHaveLength(AXES_MAX);
  });
});

test("without a choice, the columns that correlate most with the metric are shown, else the available ones", () => {
  expect(byOf(usual, ranked, ["a"])).toBe("config.lr");
  expect(byOf(usual, [], ["a"])).toBe("config.a");
  expect(byOf(usual, [], [])).toBeUndefined();
  expect(byOf({ ...usual, by: "config.z" }, ranked, ["a"])).toBe("config.z");
  expect(axesOf(usual, "metrics.m", ranked, ["x"])).toEqual([...ranked.map(({ column }) => column), "metrics.m"]);
  expect(axesOf(usual, "metrics.m", [], ["depth", "x"])).toEqual(["config.depth", "config.x", "metrics.m"]);
  expect(
    axesOf(
      usual,
      "metrics.m",
      [],
      Array.from({ length: 20 }, (_, i) => `k${i}`),
    ),
  ).toHaveLength(6);
  expect(axesOf({ ...usual, axes: ["config.q"] }, "metrics.m", ranked, [])).toEqual(["config.q", "metrics.m"]);
});

test("without a choice, the metric is one that models are judged by", () => {
  expect(firstMetric(["epoch", "system/gpu.0", "train/loss", "val/accuracy"])).toBe("val/accuracy");
  expect(firstMetric(["epoch", "loss"])).toBe("loss");
  expect(firstMetric(["epoch", "lr"])).toBe("epoch");
  expect(firstMetric([])).toBeUndefined();
});

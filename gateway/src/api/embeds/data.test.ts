import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { RunSchema, RunSummarySchema } from "@tidemark/proto/runs/v1/runs";
import { chooseFields, generateView } from "./data.ts";

const utf8 = new TextEncoder();
const runOf = (config: unknown, more: { tags?: string[]; status?: string } = {}) =>
  create(RunSchema, { configJson: utf8.encode(JSON.stringify(config)), status: "finished", ...more });
const runs = [
  { lr: 0.1, model: { name: "a" }, seed: 1 },
  { lr: 0.2, model: { name: "b" }, seed: 2 },
].map((config) => create(RunSummarySchema, { run: runOf(config) }));

describe("the view of an embed session", () => {
  test("has lines of two keys, the other kinds for the first, then lines of the others", () => {
    const { panels, keys, lineKeys } = generateView(runs, ["a b", "b", "c", "d"], 8);
    expect(panels.map(({ id, metricKey }) => `${id} ${metricKey}`)).toEqual([
      "embed-line-1 a b",
      "embed-line-2 b",
      "embed-histogram-3 a b",
      "embed-bar-4 a b",
      "embed-dot-5 a b",
      "embed-scatter-6 a b",
      "embed-distribution-7 a b",
      "embed-line-8 c",
    ]);
    expect([keys, lineKeys]).toEqual([
      ["a b", "b", "c"],
      ["a b", "b", "c"],
    ]);
    expect(new Set(panels.map((panel) => `${panel.sectionId} ${panel.sectionName}`))).toEqual(
      new Set(["embed-section Metrics"]),
    );
    const best = "metric:a%20b:best";
    expect(panels.map(({ fields }) => fields)).toEqual([
      {},
      {},
      { value_field: best },
      { value_field: best },
      { value_field: best },
      { x_field: "config:%2Flr", y_field: best },
      { value_field: best, group_field: "config:%2Fmodel%2Fname", replicate_field: "config:%2Fseed" },
      {},
    ]);
  });

  test("of one key has one line, and as many panels as allowed", () => {
    expect(generateView(runs, ["a"], 8).panels.map(({ type }) => type)).toEqual([
      "line",
      "histogram",
      "bar",
      "dot",
      "scatter",
      "distribution",
    ]);
    expect(generateView(runs, ["a", "b"], 3).panels.map(({ type }) => type)).toEqual(["line", "line", "histogram"]);
  });

  test("without keys is empty", () => expect(generateView(runs, [], 8).panels).toEqual([]));
});

describe("fields of runs", () => {
  test.each<[string, unknown[], object]>([
    ["no numbers that differ", [{ a: 1 }, { a: 1 }], {}],
    ["a number in some runs only", [{ a: 1 }, { b: 1 }, { a: 2 }], { x: "config:%2Fa" }],
    ["a member that is not always a number", [{ a: 1 }, { a: "x" }], {}],
    ["keys with slashes and tildes", [{ "a/b~": 1 }, { "a/b~": 2 }], { x: "config:%2Fa~1b~0" }],
    ["a seed that is the only number", [{ env_seed: 1 }, { env_seed: 2 }], { replicate: "config:%2Fenv_seed" }],
    ["truth values", [{ a: true }, { a: false }], { group: "config:%2Fa" }],
    ["thirteen different texts", Array.from({ length: 13 }, (_, i) => ({ a: `v${i}` })), {}],
    ["lists", [{ a: [1] }, { a: [2] }], {}],
    ["documents that are too large", [1, 2].map((n) => ({ a: n, b: "x".repeat(20_000) })), {}],
  ])("of %s", (_, configs, expected) => {
    expect(chooseFields(configs.map((config) => runOf(config)))).toEqual(expected);
  });

  test("fall back to the first tag, then to the status", () => {
    const tagged = (tag: string, status: string) => runOf({}, { tags: [tag, "x"], status });
    expect(chooseFields([tagged("a", "failed"), tagged("b", "failed")]).group).toBe("run:first_tag");
    expect(chooseFields([tagged("a", "failed"), tagged("a", "finished")]).group).toBe("run:status");
    expect(chooseFields([tagged("a", "failed"), tagged("a", "failed")]).group).toBeUndefined();
  });
});

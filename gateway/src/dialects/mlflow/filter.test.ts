import { describe, expect, test } from "@jest/globals";
import { type FilterForm, readFilter, readOrderBy } from "./filter.rules.ts";

const form: FilterForm = {
  attributes: { run_id: "listed", run_name: "text", status: "text", start_time: "number" },
  aliases: { created: "start_time" },
  kinds: ["metric", "param", "tag", "dataset"],
  sorted: ["run_name", "start_time"],
};

describe("a clause", () => {
  test.each<[string, string, string, string, (string[] | number)?]>([
    ["metrics.loss < 0.5", "metric", "loss", "<", 0.5],
    ["metric.loss >= -1", "metric", "loss", ">=", -1],
    ["metrics.loss != +5e-1", "metric", "loss", "!=", 0.5],
    ["metrics.loss > .5", "metric", "loss", ">", 0.5],
    ["metrics.a.b<=1e3", "metric", "a.b", "<=", 1000],
    ["metrics.`eval/loss (x)` = 1", "metric", "eval/loss (x)", "=", 1],
    ['metrics."eval/loss" = 1', "metric", "eval/loss", "=", 1],
    ["params.lr = '0.1'", "param", "lr", "=", ["0.1"]],
    ['parameters.lr != "it\'s"', "param", "lr", "!=", ["it's"]],
    ["parameter.x LIKE '%a_'", "param", "x", "LIKE", ["%a_"]],
    ["param.x ilike ''", "param", "x", "ILIKE", [""]],
    ["tags.mlflow.source.name = 'a\\b'", "tag", "mlflow.source.name", "=", ["a\\b"]],
    ["tag.`mlflow.prompt.is_prompt` != 'true'", "tag", "mlflow.prompt.is_prompt", "!=", ["true"]],
    ["tags.gr\u00f6\u00dfe IS NULL", "tag", "gr\u00f6\u00dfe", "IS NULL", []],
    ["params.x is not null", "param", "x", "IS NOT NULL", []],
    ["run_name = 'a'", "attribute", "run_name", "=", ["a"]],
    ["attributes.run_id IN ('a','b')", "attribute", "run_id", "IN", ["a", "b"]],
    ["attr.run_id not in ( 'a' )", "attribute", "run_id", "NOT IN", ["a"]],
    ["run.status = 'FINISHED'", "attribute", "status", "=", ["FINISHED"]],
    ["attribute.created > 1700000000000", "attribute", "start_time", ">", 1_700_000_000_000],
    ["`run_name` = 'a'", "attribute", "run_name", "=", ["a"]],
    ["dataset.name = 'train'", "dataset", "name", "=", ["train"]],
    ["datasets.context IN ('train', \"eval\")", "dataset", "context", "IN", ["train", "eval"]],
  ])("%s", (text, kind, key, operator, value) => {
    const number = typeof value === "number" ? value : undefined;
    const texts = typeof value === "object" ? value : [];
    expect(readFilter(text, form)).toEqual([{ kind, key, operator, texts, number }]);
  });
});

test("clauses are joined by AND in any case; an empty filter has none", () => {
  const tests = `tags.mlflow.loggedArtifacts LIKE '%"path"%:%"t/table.json",%' and attributes.run_id IN ('a') AND  metrics.a=1`;
  expect(readFilter(tests, form).map(({ key }) => key)).toEqual(["mlflow.loggedArtifacts", "run_id", "a"]);
  expect(readFilter(" ", form)).toEqual([]);
});

test.each([
  "metrics.loss",
  "metrics.loss <",
  "metrics.loss < 'a'",
  "metrics.loss < 1abc",
  "metrics.loss < 1 2",
  "metrics.loss LIKE 1",
  "metrics.loss IS NULL",
  "metrics.loss == 1",
  "metrics. = 1",
  "metrics.'a' = 1",
  "'run_name' = 'a'",
  "params.lr = 0.1",
  "params.lr > '0.1'",
  "params.lr IN ('a')",
  "params.lr NOT 'a'",
  "params.lr IS 'a'",
  "run_name IN ('a')",
  "run_name IS NULL",
  "run_name = `a`",
  "start_time = '1'",
  "run_id IN 'a'",
  "run_id IN ()",
  "run_id IN ('a' 'b')",
  "run_id IN ('a',)",
  "run_id IN (1)",
  "color = 'a'",
  "constructor = 'a'",
  "Metrics.loss = 1",
  "notes.a = 'b'",
  "dataset.source = 'a'",
  "run_name = 'a' OR run_name = 'b'",
  "(run_name = 'a')",
  "run_name = 'a' AND",
  "AND run_name = 'a'",
  "run_name = 'a",
  "run_name = 'a' ; x",
  "run_name = 'a\0'",
  Array.from({ length: 101 }, () => "run_name = 'a'").join(" AND "),
])("%j is 400", (text) => {
  expect(() => readFilter(text, form)).toThrow(expect.objectContaining({ reason: "bad_request", field: "filter" }));
});

test("a search has the kinds that it names", () => {
  expect(() => readFilter("metrics.a = 1", { ...form, kinds: ["tag"] })).toThrow("the filter has no metric a");
});

test.each([
  ["run_name", "attribute", "run_name", false],
  ["attributes.created desc", "attribute", "start_time", true],
  ["metrics.`a b` ASC", "metric", "a b", false],
  ["params.x DESC", "param", "x", true],
  ["tags.a.b", "tag", "a.b", false],
])("the order %s", (text, kind, key, isDescending) => {
  expect(readOrderBy([text], form)).toEqual([{ kind, key, isDescending }]);
});

test.each([[[""]], [["run_id"]], [["run_name UP"]], [["run_name DESC x"]], [["dataset.name"]], [["color"]]])(
  "the order %j is 400",
  (parts) => {
    expect(() => readOrderBy(parts, form)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  },
);

test("more than 20 parts of an order are 400", () => {
  const parts = Array.from({ length: 21 }, () => "run_name");
  expect(() => readOrderBy(parts, form)).toThrow(expect.objectContaining({ field: "order_by" }));
  expect(readOrderBy(parts.slice(1), form)).toHaveLength(20);
});

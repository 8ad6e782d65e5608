import { describe, expect, test } from "@jest/globals";
import { passes } from "../compare.rules.ts";
import { type FilterClause, readFilter, readOrderBy } from "../filter.rules.ts";
import { runConditions, runForm, runOrder } from "./search.rules.ts";

const conditions = (filter: string) => readFilter(filter, runForm).flatMap(runConditions);
const kept = (...path: string[]) => ({ of: "metadata", path: ["mlflow", ...path] });
const field = (name: string) => ({ of: "field", path: [name] });

test.each<[filter: string, firstOf: object, rest: object]>([
  ["metrics.loss < 0.5", { of: "metric", path: ["loss"] }, { operator: "<", number: 0.5 }],
  ["params.a.b = '0.1'", { of: "config", path: ["a.b"] }, { operator: "=", texts: ["0.1"] }],
  ["params.a IS NULL", { of: "config", path: ["a"] }, { operator: "is null", texts: [] }],
  ["tags.x ILIKE 'a%'", kept("tags", "x"), { operator: "ilike", texts: ["a%"] }],
  ["tags.mlflow.runName = 'r'", field("name"), { texts: ["r"] }],
  ["tags.mlflow.parentRunId = 'r'", kept("parent_run_id"), { texts: ["r"] }],
  ["tags.toString = 'r'", kept("tags", "toString"), { texts: ["r"] }],
  ["run_name != 'r'", field("name"), { operator: "!=", orMissing: false }],
  ["attributes.user_id != 'r'", kept("user"), { operator: "!=", orMissing: true }],
  [
    `run_id IN ('${"ab".repeat(16)}', 'x')`,
    field("id"),
    { operator: "in", texts: ["abababab-abab-abab-abab-abababababab", "x"] },
  ],
])("%s", (filter, firstOf, rest) => {
  expect(conditions(filter)).toEqual([{ any: [expect.objectContaining({ firstOf: [firstOf], ...rest })] }]);
});

test("times are what MLflow keeps, otherwise the run's own; a run that runs has no end", () => {
  expect(conditions("attributes.start_time > 5")).toMatchObject([
    { any: [{ firstOf: [{ ...kept("start_time"), number: true }, field("started_at")], number: 5 }] },
  ]);
  expect(conditions("end_time > 5")).toMatchObject([
    { any: [{ firstOf: [{ ...kept("end_time"), number: true }, field("finished_at")] }] },
    { any: [{ firstOf: [field("display_status")], operator: "not in", texts: ["running", "stopping"] }] },
  ]);
});

describe("a status", () => {
  /** Whether a run with these statuses passes. */
  function finds(filter: string, shown: string, word?: string): boolean {
    return conditions(filter).every(({ any = [] }) =>
      any.some(({ firstOf = [], operator = "", texts = [], orMissing = false }) => {
        const value = firstOf[0]!.of === "field" ? shown : word;
        if (value === undefined) return orMissing;
        return passes({ operator: operator.toUpperCase(), texts } as unknown as FilterClause, value);
      }),
    );
  }
  const all: readonly (readonly [word: string, shown: string, kept?: string])[] = [
    ["RUNNING", "running"],
    ["RUNNING", "stopping"],
    ["SCHEDULED", "running", "SCHEDULED"],
    ["FINISHED", "finished"],
    ["FAILED", "failed"],
    ["KILLED", "failed", "KILLED"],
    ["KILLED", "stopped"],
  ];
  test.each<[filter: string, words: string[]]>([
    ["status = 'RUNNING'", ["RUNNING"]],
    ["status = 'SCHEDULED'", ["SCHEDULED"]],
    ["status = 'FINISHED'", ["FINISHED"]],
    ["status = 'FAILED'", ["FAILED"]],
    ["status = 'KILLED'", ["KILLED"]],
    ["status != 'FINISHED'", ["RUNNING", "SCHEDULED", "FAILED", "KILLED"]],
    ["status LIKE 'F%'", ["FINISHED", "FAILED"]],
    ["status ILIKE 'f_iled'", ["FAILED"]],
    ["status = 'finished'", []],
  ])("%s", (filter, wanted) => {
    for (const [word, shown, keptWord] of all)
      expect([word, shown, finds(filter, shown, keptWord)]).toEqual([word, shown, wanted.includes(word)]);
  });
});

test.each([
  "attributes.artifact_uri = 'x'",
  "dataset.name = 'x'",
  "tags.mlflow.note.content LIKE 'x'",
  "run_id LIKE 'a%'",
  "metrics.a = 'x'",
  "params.a > 'x'",
  "attributes.nothing = 'x'",
])("%s is refused", (filter) => {
  expect(() => conditions(filter)).toThrow(expect.objectContaining({ reason: "bad_request", field: "filter" }));
});

test("orders", () => {
  const orders = (...parts: string[]) => readOrderBy(parts, runForm).map(runOrder);
  expect(orders("metrics.loss DESC", "params.lr", "attributes.run_id", "tags.mlflow.runName")).toEqual([
    { firstOf: [{ of: "metric", path: ["loss"] }], descending: true },
    { firstOf: [{ of: "config", path: ["lr"] }], descending: false },
    { firstOf: [field("id")], descending: false },
    { firstOf: [field("name")], descending: false },
  ]);
  for (const part of ["attributes.status", "attributes.artifact_uri", "dataset.name"])
    expect(() => orders(part)).toThrow(expect.objectContaining({ reason: "bad_request" }));
});

import { describe, expect, test } from "@jest/globals";
import { linearize } from "./linearize.ts";
import { viewModel, type ViewAnswer, type ViewEntry, type ViewOperation } from "./view-model.ts";

// A judge must also find faults.

const model = viewModel({ name: "a", version: "1" });
const history = (...lines: [ViewOperation, ViewAnswer, from: number, to: number][]): ViewEntry[] =>
  lines.map(([operation, answer, begun, ended]) => ({ operation, answer, begun, ended }));

const remove = (knows: string): ViewOperation => ({ kind: "delete", knows });
const replace = (knows: string): ViewOperation => ({ kind: "replace", knows, name: "b" });
const read: ViewOperation = { kind: "read" };
const deleted: ViewAnswer = { kind: "deleted" };
const view = (name: string, version: string): ViewAnswer => ({ kind: "view", name, version });
const refused = (status: number): ViewAnswer => ({ kind: "refused", status });

test.each<[string, ViewEntry[]]>([
  [
    "one of two deleters wins",
    history([remove("1"), refused(409), 1, 3], [remove("1"), deleted, 2, 4], [read, refused(404), 5, 6]),
  ],
  ["a replacer is before a deleter", history([replace("1"), view("b", "2"), 1, 3], [remove("1"), refused(409), 2, 4])],
  ["the last PUT wins", history([{ kind: "put", name: "c" }, view("c", "3"), 1, 2], [read, view("c", "3"), 3, 4])],
])("a history is linear in which %s", (_, entries) => {
  expect(linearize(entries, model)).toBeDefined();
});

describe("a history is not linear in which", () => {
  test.each<[string, ViewEntry[]]>([
    ["two deleters win", history([remove("1"), deleted, 1, 3], [remove("1"), deleted, 2, 4])],
    ["two replacers win", history([replace("1"), view("b", "2"), 1, 3], [replace("1"), view("b", "3"), 2, 4])],
    ["a deleter and a replacer win", history([remove("1"), deleted, 1, 3], [replace("1"), view("b", "2"), 2, 4])],
    ["no writer wins", history([remove("1"), refused(409), 1, 3], [remove("1"), refused(409), 2, 4])],
    ["a change is not newer", history([{ kind: "put", name: "c" }, view("c", "1"), 1, 2])],
    ["a change is lost", history([{ kind: "put", name: "c" }, view("c", "2"), 1, 2], [read, view("a", "1"), 3, 4])],
    ["a deleted view is read", history([remove("1"), deleted, 1, 2], [read, view("a", "1"), 3, 4])],
  ])("%s", (_, entries) => {
    expect(linearize(entries, model)).toBeUndefined();
  });
});

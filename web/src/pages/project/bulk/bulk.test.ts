import { expect, test } from "@jest/globals";
import { parts } from "../../../api/deletions.ts";
import { suggest, taken, wordAt } from "../search/suggestions.ts";
import { changedBy, stepsOf, undoStepsOf, type BulkRun } from "./bulk.ts";

const run = (id: string, more: Partial<BulkRun> = {}): BulkRun => ({
  id,
  name: id,
  tags: [],
  notes: null,
  status: "running",
  stale: false,
  ...more,
});
const runs = [run("a", { tags: ["x"] }), run("b", { status: "finished" }), run("c", { stale: true, notes: "n" })];
const idsOf = (some: readonly BulkRun[]): string[] => some.map(({ id }) => id);

test("an action changes only the runs that are not so already", () => {
  expect(idsOf(changedBy({ kind: "add-tag", tag: "x" }, runs))).toEqual(["b", "c"]);
  expect(idsOf(changedBy({ kind: "remove-tag", tag: "x" }, runs))).toEqual(["a"]);
  expect(idsOf(changedBy({ kind: "notes", notes: "" }, runs))).toEqual(["c"]);
  expect(idsOf(changedBy({ kind: "stop" }, runs))).toEqual(["a", "c"]);
  expect(idsOf(changedBy({ kind: "end" }, runs))).toEqual(["c"]);
});

test("runs that get the same change are grouped, and undo restores the old values", () => {
  const action = { kind: "add-tag", tag: "y" } as const;
  expect(stepsOf(action, runs)).toEqual([
    { ids: ["a"], set: { tags: ["x", "y"] } },
    { ids: ["b", "c"], set: { tags: ["y"] } },
  ]);
  expect(undoStepsOf(action, runs)).toEqual([
    { ids: ["a"], set: { tags: ["x"] } },
    { ids: ["b", "c"], set: { tags: [] } },
  ]);
  expect(parts([1, 2, 3], 2)).toEqual([[1, 2], [3]]);
});

test("words and keys that begin as the word at the caret are suggested, then those that contain it", () => {
  expect(suggest("config.l", 8, ["config.lr", "metrics.config.l"]).map(({ text }) => text)).toEqual([
    "config.lr",
    "metrics.config.l",
  ]);
  expect(suggest('name:"stat', 10, [])).toEqual([]);
  expect(suggest("", 0, [])).toEqual([]);
  expect(wordAt("(-tag:a", 7)).toEqual({ text: "tag:a", from: 2, to: 7 });
  expect(taken("stat x", { text: "status:failed", hint: "", from: 0, to: 4 })).toEqual({
    query: "status:failed x",
    caret: 13,
  });
});

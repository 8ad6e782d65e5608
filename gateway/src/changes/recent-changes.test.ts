import { expect, test } from "@jest/globals";
import type { NotedChange } from "@tidemark/bus";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { createRecentChanges, KEPT_MS } from "./recent-changes.rules.ts";

const change = (runId: string, more: Partial<NotedChange> = {}): NotedChange => ({
  orgId: "o",
  projectId: "p",
  runId,
  kind: ChangeKind.POINTS,
  ...more,
});
const everybody = (publisher: string): boolean => publisher !== "";

function setUp(bytesMax?: number) {
  const forgotten: [string, number][] = [];
  const recent = createRecentChanges((publisher, number) => void forgotten.push([publisher, number]), bytesMax);
  const behind = (position: Record<string, number>, project = "p", isKnown = everybody): string[] =>
    recent.behind(project, new Map(Object.entries(position)), isKnown).map(({ change: one }) => one.runId);
  return { recent, forgotten, behind };
}

test("changes behind a position are returned once for each run and kind, in the order of the last change", () => {
  const { recent, behind } = setUp();
  recent.add("p", change("r1"), "a", 1, 0);
  recent.add("p", change("r2"), "a", 2, 0);
  recent.add("p", change("r1", { kind: ChangeKind.LINES }), "a", 3, 0);
  recent.add("p", change("r1"), "a", 4, 0);
  recent.add("q", change("r9"), "a", 5, 0);
  expect(behind({})).toEqual(["r2", "r1", "r1"]);
  expect(behind({ a: 2 })).toEqual(["r1", "r1"]);
  expect(behind({ a: 4 })).toEqual([]);
  expect(behind({}, "q")).toEqual(["r9"]);
  expect(behind({}, "x")).toEqual([]);
});

test("a run that several publishers announced is returned with what all of them said", () => {
  const { recent, behind } = setUp();
  recent.add("p", change("r1", { keys: ["x"], step: 9 }), "a", 1, 0);
  recent.add("p", change("r2"), "b", 1, 0);
  recent.add("p", change("r1", { keys: ["y"], step: 5 }), "b", 2, 0);
  const [merged] = recent.behind(
    "p",
    new Map([
      ["a", 1],
      ["b", 1],
    ]),
    everybody,
  );
  expect(merged).toEqual({
    change: change("r1", { keys: ["x", "y"], step: 9 }),
    places: new Map([
      ["a", 1],
      ["b", 2],
    ]),
  });
  expect(behind({ a: 1, b: 2 })).toEqual([]);
  expect(behind({}, "p", (publisher) => publisher === "a")).toEqual(["r1"]);
});

test("a run that is unchanged for five minutes is forgotten, and reported with its last number", () => {
  const { recent, forgotten, behind } = setUp();
  recent.add("p", change("r1"), "a", 1, 0);
  recent.add("p", change("r2"), "a", 2, 0);
  recent.add("p", change("r1"), "a", 3, 1000);
  recent.forgetOld(KEPT_MS - 1);
  expect(forgotten).toEqual([]);
  recent.forgetOld(KEPT_MS);
  expect([forgotten, behind({})]).toEqual([[["a", 2]], ["r1"]]);
  recent.forgetOld(KEPT_MS + 1000);
  expect([forgotten, behind({})]).toEqual([
    [
      ["a", 2],
      ["a", 3],
    ],
    [],
  ]);
});

test("memory is bounded: what is unchanged for longest is dropped first", () => {
  const { recent, forgotten, behind } = setUp(2000);
  for (let i = 0; i < 5; i++) recent.add("p", change(`r${i}`), "a", i + 1, 0);
  expect(behind({})).toEqual(["r1", "r2", "r3", "r4"]);
  recent.add("p", change("r5", { keys: Array.from({ length: 10 }, (_, i) => `${i}`.padEnd(60, "x")) }), "a", 6, 0);
  expect([forgotten.at(-1), behind({})]).toEqual([
    ["a", 4],
    ["r4", "r5"],
  ]);
});

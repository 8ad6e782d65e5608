import { expect, test } from "@jest/globals";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { CHANGED_KEYS_MAX, mergeChange, type NotedChange } from "./merge-changes.ts";

const change = (more: Partial<NotedChange>): NotedChange => ({
  orgId: "o",
  projectId: "p",
  runId: "r",
  kind: ChangeKind.POINTS,
  ...more,
});
const names = (count: number, first = 0): string[] => Array.from({ length: count }, (_, i) => `k${first + i}`);

test("two changes make one with all keys, the highest step and the highest line", () => {
  const merged = mergeChange(
    change({ keys: ["a", "b"], step: 5, line: 1 }),
    change({ keys: ["b", "c"], step: 3, line: 2 }),
  );
  expect(merged).toEqual(change({ keys: ["a", "b", "c"], step: 5, line: 2 }));
});

test.each([
  [undefined, 3, 3],
  [3, undefined, 3],
  [undefined, undefined, undefined],
])("of the steps %j and %j, %j is kept", (before, now, kept) => {
  expect(mergeChange(change({ step: before, keys: ["a"] }), change({ step: now, keys: ["a"] })).step).toBe(kept);
});

test("a change that adds nothing equals the one before, in any order of its keys", () => {
  const before = change({ keys: ["a", "b"], step: 5 });
  expect(mergeChange(before, change({ keys: ["a", "b"], step: 5 }))).toBe(before);
  expect(mergeChange(before, change({ keys: ["b", "a"], step: 1 }))).toBe(before);
  expect(mergeChange(before, change({ keys: ["a"] }))).toBe(before);
});

test("more keys than the bound are none, and stay none", () => {
  const most = change({ keys: names(CHANGED_KEYS_MAX) });
  expect(mergeChange(most, change({ keys: names(3) })).keys).toHaveLength(CHANGED_KEYS_MAX);
  const none = mergeChange(most, change({ keys: names(1, CHANGED_KEYS_MAX) }));
  expect(none.keys).toBeUndefined();
  expect(mergeChange(none, change({ keys: ["a"] })).keys).toBeUndefined();
});

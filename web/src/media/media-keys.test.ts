import { expect, test } from "@jest/globals";
import { requestsOf, shownKeys, stepsOfKeys, type MediaKey } from "./media-keys.ts";

const keyOf = (key: string, kind: MediaKey["kinds"][number], steps: readonly number[]): MediaKey => ({
  key,
  kinds: [kind],
  run_ids: ["r"],
  steps,
  steps_truncated: false,
});
const KEYS = [keyOf("faces", "image", [0, 10]), keyOf("grads", "histogram", [5, 10]), keyOf("grid", "image", [])];
type Choice = Parameters<typeof shownKeys>[1];
const ALL: Choice = { kind: "", chosen: [], matches: () => true };
const namesOf = (choice: Partial<Choice>): string[] => shownKeys(KEYS, { ...ALL, ...choice }).map(({ key }) => key);

test("keys are shown that have the kind, pass the search and are chosen", () => {
  expect(namesOf({})).toEqual(["faces", "grads", "grid"]);
  expect(namesOf({ kind: "image" })).toEqual(["faces", "grid"]);
  expect(namesOf({ kind: "table" })).toEqual([]);
  expect(namesOf({ chosen: ["grid", "gone"] })).toEqual(["grid"]);
  expect(namesOf({ kind: "image", matches: (key) => key.startsWith("gr") })).toEqual(["grid"]);
});

test("the slider stops at the steps of all shown keys, each once", () => {
  expect(stepsOfKeys(KEYS)).toEqual([0, 5, 10]);
  expect(stepsOfKeys([])).toEqual([]);
});

test("a request has as many keys as the runs leave room for, and at least one", () => {
  expect(requestsOf(["a", "b", "c"], 40)).toEqual([["a", "b"], ["c"]]);
  expect(requestsOf(["a", "b"], 100)).toEqual([["a"], ["b"]]);
  expect(requestsOf(["a", "b"], 300)).toEqual([["a"], ["b"]]);
  expect(requestsOf([], 3)).toEqual([]);
});

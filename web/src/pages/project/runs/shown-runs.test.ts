import { expect, test } from "@jest/globals";
import { VIEW_USUAL } from "../view/view-state.ts";
import { groupToggle, isShown, LINES_MAX, listRow, withHidden, withShown } from "./shown-runs.ts";

test("the eye of a group hides those of its runs that count, or shows all where none does", () => {
  expect(groupToggle(["a", "b", "c"], new Set(["b", "x"]))).toEqual({ ids: ["a", "c"], isOn: false });
  expect(groupToggle(["a", "b"], new Set(["a", "b", "x"]))).toEqual({ ids: ["a", "b"], isOn: true });
});

test("hidden runs are each listed once, the newest as many as an address holds", () => {
  expect(withHidden(["a", "b"], ["b", "c"], true)).toEqual(["a", "b", "c"]);
  expect(withHidden(["a", "b"], ["b", "c"], false)).toEqual(["a"]);
  const many = Array.from({ length: LINES_MAX + 50 }, (_, i) => `run ${i}`);
  expect(withHidden([], many, true)).toEqual(many.slice(50));
});

test("runs that were hidden together are shown together", () => {
  const ids = ["a", "b"];
  const hidden = { ...VIEW_USUAL, ...withShown(VIEW_USUAL, ids, false) };
  expect(ids.map((id, i) => isShown(hidden, id, i))).toEqual([false, false]);
  const shown = { ...hidden, ...withShown(hidden, ids, true) };
  expect(ids.map((id) => isShown(shown, id, undefined))).toEqual([true, true]);
});

test("runs that are pinned are left out of the rows below", () => {
  const rows = (taken: readonly number[]): readonly number[] => [0, 1, 2, 3].map((below) => listRow(below, taken));
  expect(rows([])).toEqual([0, 1, 2, 3]);
  expect(rows([0])).toEqual([1, 2, 3, 4]);
  expect(rows([1, 2, 7])).toEqual([0, 3, 4, 5]);
  expect(rows([0, 2, 4])).toEqual([1, 3, 5, 6]);
});

import { expect, test } from "@jest/globals";
import { VIEW_USUAL } from "../view/view-state.ts";
import { groupToggle, isShown, LINES_MAX, withShown } from "./shown-runs.ts";

test("the eye of a group hides those of its runs that have lines, or shows as many as can have some", () => {
  expect(groupToggle(["a", "b", "c"], new Set(["b", "x"]))).toEqual({ ids: ["b"], isOn: false });
  expect(groupToggle(["a", "b"], new Set(["x"]))).toEqual({ ids: ["a", "b"], isOn: true });
  const many = Array.from({ length: LINES_MAX + 50 }, (_, i) => `run ${i}`);
  expect(groupToggle(many, new Set())).toEqual({ ids: many.slice(0, LINES_MAX), isOn: true });
});

test("runs that were hidden together are shown together", () => {
  const ids = ["a", "b"];
  const hidden = { ...VIEW_USUAL, ...withShown(VIEW_USUAL, ids, false) };
  expect(ids.map((id, i) => isShown(hidden, id, i))).toEqual([false, false]);
  const shown = { ...hidden, ...withShown(hidden, ids, true) };
  expect(ids.map((id) => isShown(shown, id, undefined))).toEqual([true, true]);
});

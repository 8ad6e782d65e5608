import { expect, test } from "@jest/globals";
import { NOTHING, placeAfter, selectRange, toggleRow } from "./selection.ts";

const idOf = (index: number): string | undefined => (index === 3 ? undefined : `run ${index}`);

test("rows are chosen one by one and taken out again", () => {
  const one = toggleRow(NOTHING, 2, "run 2");
  expect([...one.ids]).toEqual(["run 2"]);
  expect([...toggleRow(one, 2, "run 2").ids]).toEqual([]);
  expect([...NOTHING.ids]).toEqual([]);
});

test("a range extends from the previous row in either direction and leaves out rows that are not loaded", () => {
  const one = toggleRow(NOTHING, 2, "run 2");
  expect([...selectRange(one, 4, idOf).ids]).toEqual(["run 2", "run 4"]);
  expect([...selectRange(one, 0, idOf).ids]).toEqual(["run 2", "run 0", "run 1"]);
  expect(selectRange(one, 4, idOf).anchor).toBe(2);
  expect([...selectRange(NOTHING, 1, idOf).ids]).toEqual(["run 1"]);
});

test.each([
  ["ArrowDown", false, { row: 6, column: 2 }],
  ["ArrowUp", false, { row: 4, column: 2 }],
  ["ArrowLeft", false, { row: 5, column: 1 }],
  ["ArrowRight", false, { row: 5, column: 3 }],
  ["PageDown", false, { row: 9, column: 2 }],
  ["PageUp", false, { row: 0, column: 2 }],
  ["Home", false, { row: 5, column: 0 }],
  ["End", false, { row: 5, column: 3 }],
  ["Home", true, { row: 0, column: 0 }],
  ["End", true, { row: 9, column: 3 }],
  ["a", false, undefined],
])("%s (Ctrl: %s) leads to its cell", (key, ctrlKey, expected) => {
  const bounds = { rows: 10, columns: 4, page: 8 };
  expect(placeAfter({ key, ctrlKey, metaKey: false }, { row: 5, column: 2 }, bounds)).toEqual(expected);
});

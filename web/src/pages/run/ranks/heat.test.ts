import { expect, test } from "@jest/globals";
import { heatGrid, heatOf } from "./heat.ts";

const cell = (step: number, rank: number, delta: number | null) => ({ step, rank, value: 1, delta_from_mean: delta });

test("cells become a grid with holes", () => {
  const grid = heatGrid([cell(4, 2, 1), cell(2, 0, -4), cell(4, 0, 0)]);
  expect(grid.steps).toEqual([2, 4]);
  expect(grid.ranks).toEqual([0, 2]);
  expect(grid.cells.map((column) => column.map((one) => one?.delta_from_mean))).toEqual([
    [-4, undefined],
    [0, 1],
  ]);
  expect(grid.most).toBe(4);
});

test("heat ranges from -1 to 1 by the root of the distance", () => {
  expect(heatOf(cell(0, 0, -4), 4)).toBe(-1);
  expect(heatOf(cell(0, 0, 1), 4)).toBe(0.5);
  expect(heatOf(cell(0, 0, null), 4)).toBe(0);
  expect(heatOf(cell(0, 0, 0), 0)).toBe(0);
});

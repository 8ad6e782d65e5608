import type { NonFiniteText } from "../../../api/run-types.ts";

/** A cell of a heat map of ranks. */
export type HeatCell = {
  readonly step: number;
  readonly rank: number;
  readonly value: number | NonFiniteText;
  readonly delta_from_mean: number | null;
};

/** Cells in a grid: a column for each step, a row for each rank. */
export type HeatGrid = {
  readonly steps: readonly number[];
  readonly ranks: readonly number[];
  /** By column, then by row; undefined where a rank did not report. */
  readonly cells: readonly (readonly (HeatCell | undefined)[])[];
  /** The largest distance from the mean of a step. */
  readonly most: number;
};

/** Puts cells into a grid. */
export function heatGrid(cells: readonly HeatCell[]): HeatGrid {
  const steps = [...new Set(cells.map(({ step }) => step))].toSorted((a, b) => a - b);
  const ranks = [...new Set(cells.map(({ rank }) => rank))].toSorted((a, b) => a - b);
  const columnOf = new Map(steps.map((step, i) => [step, i]));
  const rowOf = new Map(ranks.map((rank, i) => [rank, i]));
  const grid: (HeatCell | undefined)[][] = steps.map(() => ranks.map(() => undefined));
  let most = 0;
  for (const cell of cells) {
    grid[columnOf.get(cell.step)!]![rowOf.get(cell.rank)!] = cell;
    most = Math.max(most, Math.abs(cell.delta_from_mean ?? 0));
  }
  return { steps, ranks, cells: grid, most };
}

/**
 * Returns where a cell is between far below the mean of its step (-1) and far above it (1). The root makes small differences visible, which
 * are the usual ones.
 */
export function heatOf(cell: HeatCell, most: number): number {
  const delta = cell.delta_from_mean ?? 0;
  return most === 0 ? 0 : Math.sign(delta) * Math.sqrt(Math.abs(delta) / most);
}

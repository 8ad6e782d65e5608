import type { Sheet } from "./sheet.ts";

/** A bar: the value of a run, or the mean of the runs of a group. */
export type Bar = {
  /** The id by which its run or group has a color. */
  readonly id: string;
  readonly name: string;
  readonly color: string;
  /** Null without a value; values that are not finite count as none. */
  readonly value: number | null;
  /** Of a group: the standard deviation of the population, and how many of its runs have a value. */
  readonly spread?: { readonly std: number; readonly count: number } | undefined;
};

/** Bars that are drawn, the first ones. */
export const BARS_MAX = 60;

/** The bars of a picture, and how many were left out. */
export type DrawnBars = {
  readonly drawn: readonly (Bar & { readonly value: number })[];
  /** Without a value. */
  readonly empty: number;
  /** Beyond the limit. */
  readonly beyond: number;
};

/** Returns the bars to draw, in their order: the first ones that have a value. */
export function drawnBars(bars: readonly Bar[]): DrawnBars {
  const known = bars.flatMap((bar) =>
    bar.value !== null && Number.isFinite(bar.value) ? [{ ...bar, value: bar.value }] : [],
  );
  return {
    drawn: known.slice(0, BARS_MAX),
    empty: bars.length - known.length,
    beyond: Math.max(0, known.length - BARS_MAX),
  };
}

/** Returns the range of the axis of bars: 0, where they begin, and all their ends with the deviations of groups. */
export function barsDomain(bars: DrawnBars["drawn"]): readonly [number, number] {
  const ends = bars.flatMap(({ value, spread }) => {
    const std = spread?.std ?? 0;
    return [value - std, value + std].filter(Number.isFinite);
  });
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return low === high ? [0, 1] : [low, high];
}

/** Returns the values of bars as a table. */
export function barsSheet({ drawn }: DrawnBars, label: string): Sheet {
  const hasSpread = drawn.some(({ spread }) => spread !== undefined);
  return {
    head: ["id", "name", label, ...(hasSpread ? ["std", "count"] : [])],
    rows: drawn.map(({ id, name, value, spread }) => [
      id,
      name,
      value,
      ...(hasSpread ? [spread?.std, spread?.count] : []),
    ]),
  };
}

import { lowerBound, type Line } from "./line-model.ts";
import { counted } from "./numbers.ts";
import type { Range } from "./scale.ts";

const ROWS_MAX = 200;
const COLUMNS_MAX = 20;

/** A place of the axis with the value of each line there. */
export type TableRow = { readonly x: number; readonly values: readonly (number | undefined)[] };

/** Returns a table of lines: a limited number of rows and columns, evenly chosen, and a sentence on omitted ones. */
export function rowsOf(
  lines: readonly Line[],
  view: Range | undefined,
): { readonly shown: readonly Line[]; readonly rows: readonly TableRow[]; readonly left: string } {
  const shown = lines.slice(0, COLUMNS_MAX);
  const [low, high] = view ?? [-Infinity, Infinity];
  const places = new Set<number>();
  for (const { x } of shown) for (let i = lowerBound(x, low); i < x.length && x[i]! <= high; i++) places.add(x[i]!);
  const sorted = [...places].toSorted((a, b) => a - b);
  const every = Math.max(1, Math.ceil(sorted.length / ROWS_MAX));
  const chosen = sorted.filter((_, i) => i % every === 0 || i === sorted.length - 1);
  const rows = chosen.map((x) => ({
    x,
    values: shown.map((line) => {
      const at = lowerBound(line.x, x);
      return line.x[at] === x ? (line.smoothed?.[at] ?? line.y[at]) : undefined;
    }),
  }));
  const parts = [
    ...(every > 1 ? [`every ${counted(every, "row").replace(/ rows?$/, "")}th row`] : []),
    ...(lines.length > shown.length ? [`the first ${COLUMNS_MAX} of ${counted(lines.length, "line")}`] : []),
  ];
  return { shown, rows, left: parts.length === 0 ? "" : `This shows ${parts.join(" and ")}. The CSV file has all.` };
}

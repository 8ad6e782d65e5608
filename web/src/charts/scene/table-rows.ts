import { csvCell } from "@tidemark/values/csv";
import { isInherited, lowerBound, type Line } from "./line-model.ts";
import { notFiniteAt } from "./not-finite.ts";
import { counted, shortNumber } from "./numbers.ts";
import type { Range } from "./scale.ts";

const ROWS_MAX = 200;
const COLUMNS_MAX = 20;

/** A place of the axis with what each line has there: its value, and how many of a bucket's are not finite. */
type TableRow = { readonly x: number; readonly values: readonly (string | undefined)[] };

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
      return line.x[at] === x ? cellText(line, at) : undefined;
    }),
  }));
  const parts = [
    ...(every > 1 ? [`every ${counted(every, "row").replace(/ rows?$/, "")}th row`] : []),
    ...(lines.length > shown.length ? [`the first ${COLUMNS_MAX} of ${counted(lines.length, "line")}`] : []),
  ];
  return { shown, rows, left: parts.length === 0 ? "" : `This shows ${parts.join(" and ")}. The CSV file has all.` };
}

function cellText(line: Line, at: number): string {
  const own = line.y[at]!;
  if (!Number.isFinite(own)) return shortNumber(own);
  const value = shortNumber(line.smoothed?.[at] ?? own);
  const others = notFiniteAt(line, at);
  return others === 0 ? value : `${value} (${others} of ${others + (line.count?.[at] ?? 0)} not finite)`;
}

/** Columns that a line may have in addition to x and y. */
const MORE = ["low", "high", "count", "nonFinite", "smoothed", "step"] as const;

/**
 * Writes the data that a chart draws: a row for each point or bucket of each line in view, with full digits. `xName` and `yName` head the columns of the
 * axes. If forks are drawn with their parents' parts, a last column marks those points. RFC 4180.
 */
export function csvOf(
  lines: readonly Line[],
  view: Range,
  { xName, yName }: { readonly xName: string; readonly yName: string },
): string {
  const more = MORE.filter(
    (name) => lines.some((line) => line[name] !== undefined) && !(name === "step" && xName === "step"),
  );
  const hasForks = lines.some(({ forkStep }) => forkStep !== undefined);
  const rows = [
    [
      "id",
      "name",
      xName,
      yName,
      ...more.map((column) => (column === "nonFinite" ? "non_finite" : column)),
      ...(hasForks ? ["inherited"] : []),
    ]
      .map(csvCell)
      .join(","),
  ];
  for (const line of lines) {
    const head = `${csvCell(line.id)},${csvCell(line.name)}`;
    for (let i = lowerBound(line.x, view[0]); i < line.x.length && line.x[i]! <= view[1]; i++) {
      const cells = more.map((name) => numberText(line[name]?.[i]));
      if (hasForks) cells.push(String(isInherited(line, i)));
      rows.push([head, numberText(line.x[i]), numberText(line.y[i]), ...cells].join(","));
    }
  }
  return `${rows.join("\r\n")}\r\n`;
}

function numberText(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}

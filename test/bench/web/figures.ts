import { shown, tableHead, tableRow } from "../markdown-table.ts";
import { percentilesOf } from "../percentiles.ts";

/** What was measured of pages: a row of figures, which all have the unit of the row. */
export type WebFigure = {
  /** What was measured, in the same words for all trackers. */
  readonly name: string;
  readonly unit: "ms" | "s" | "KiB" | "MiB" | "";
  /** None where it could not be measured, which the note then says. */
  readonly values: readonly number[];
  /** What was wanted, or what one has to know to compare. */
  readonly note: string;
};

const titleOf = ({ name, unit }: WebFigure): string => `${name}${unit === "" ? "" : `, ${unit}`}`;
const digitsOf = (unit: WebFigure["unit"], value: number): number => (unit === "" || value < 20 ? 1 : 0);

/** The head of a table of figures; the last column is what was wanted or what one has to know. */
export const figuresHead = (last: string): string => tableHead(["measured", "p50", "p95", "times", last]);

/** A row of that table. */
export function figureRow(figure: WebFigure): string {
  const { unit, values, note } = figure;
  const { p50, p95 } = percentilesOf(values);
  const digits = digitsOf(unit, p50);
  return tableRow([titleOf(figure), shown(p50, digits), shown(p95, digits), values.length, note]);
}

/** A table of what at least two of the trackers were measured by, p50 and p95; a tracker without a figure has an empty cell. */
export function sideBySide(measured: ReadonlyMap<string, readonly WebFigure[]>): string {
  const trackers = [...measured];
  const cell = (figure: WebFigure | undefined): string => {
    if (figure === undefined) return "";
    const { p50, p95 } = percentilesOf(figure.values);
    const digits = digitsOf(figure.unit, p50);
    return figure.values.length === 0 ? figure.note : `${shown(p50, digits)} / ${shown(p95, digits)}`;
  };
  const rows = new Map<string, string[]>();
  for (const figure of trackers.flatMap(([, figures]) => figures)) {
    const all = trackers.map(([, figures]) => figures.find((other) => titleOf(other) === titleOf(figure)));
    if (all.filter((other) => other !== undefined).length > 1) rows.set(titleOf(figure), all.map(cell));
  }
  const head = tableHead(["p50 / p95", ...trackers.map(([name]) => name)]);
  return [head, ...[...rows].map(([title, cells]) => tableRow([title, ...cells]))].join("\n");
}

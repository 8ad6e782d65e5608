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

import { shortNumber } from "./numbers.ts";
import { rampColor, type Range } from "./scale.ts";

/** What a legend names: a line with its dash, or, without one, a dot of a color. */
export type LegendEntry = { readonly name: string; readonly color: string; readonly dash?: readonly number[] };

/** Returns the entries for colors by a number: its least and its greatest value; where not all runs have one, also the color of those without. */
export function rampEntries(label: string, [low, high]: Range, without?: string): readonly LegendEntry[] {
  const entry = (value: number, share: number): LegendEntry => ({
    name: `${label}: ${shortNumber(value)}`,
    color: rampColor(share),
  });
  return [
    ...(low === high ? [entry(low, 0.5)] : [entry(low, 0), entry(high, 1)]),
    ...(without === undefined ? [] : [{ name: `${label}: none`, color: without }]),
  ];
}

import type { Column } from "./column.rules.ts";

/** How a filter compares. */
export type Comparison = "<" | "<=" | ">" | ">=" | "=" | "!=";

/** A finite number of at least 2^53, or at most -2^53, by its decimal digits: no double holds all integers there. */
export type LongNumber = { readonly digits: string };

/** The operand of a comparison: a number, or a text, which never equals a number. */
export type Operand = number | LongNumber | string;

/** Returns a number in decimal digits, perhaps with an exponent, as an operand. */
export function numberOperand(digits: string): number | LongNumber {
  const number = Number(digits);
  return Math.abs(number) >= 2 ** 53 && Number.isFinite(number) ? { digits } : number;
}

/** A filter of a query: the value of a column, compared with a number or a text. */
export type Filter = { readonly column: Column; readonly comparison: Comparison; readonly operand: Operand };

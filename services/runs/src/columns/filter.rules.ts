import type { Column } from "./column.rules.ts";

/** How a filter compares. */
export type Comparison = "<" | "<=" | ">" | ">=" | "=" | "!=";

/** What runs are compared with: a number, or a text, which never equals a number. */
export type Operand = number | string;

/** A filter of a query: the value of a column, compared with a number or a text. */
export type Filter = { readonly column: Column; readonly comparison: Comparison; readonly operand: Operand };

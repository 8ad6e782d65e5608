import { compareKeyBytes } from "@tidemark/metric-codec";
import type { TextRow } from "./comparison.ts";

/** A value of one run; where the page ends for this run, the path that comes next and null. */
export type AttributeCell = {
  /** Of the run, from 1. */
  readonly place: number;
  readonly path: string;
  readonly value: string | null;
};

/** The rows that a page completes, and the path to go on after; undefined when there is nothing more. */
export type AttributeRows = { readonly rows: TextRow[]; readonly reached: string | undefined; readonly ended: boolean };

/**
 * Turns a page of attributes into rows by path. Complete are the paths before the first one that the
 * page owes to some run; the others come again.
 */
export function attributeRows(prefix: string, runs: number, cells: readonly AttributeCell[]): AttributeRows {
  const owed = cells.flatMap(({ path, value }) => (value === null ? [path] : []));
  const next = owed.length === 0 ? undefined : owed.reduce((a, b) => (compareKeyBytes(b, a) < 0 ? b : a));
  const values = new Map<string, string[]>();
  for (const { place, path, value } of cells) {
    if (value === null || (next !== undefined && compareKeyBytes(path, next) >= 0)) continue;
    let row = values.get(path);
    if (row === undefined) values.set(path, (row = Array<string>(runs).fill("")));
    row[place - 1] = value;
  }
  const paths = [...values.keys()].sort(compareKeyBytes);
  return {
    rows: paths.map((path) => ({ path: prefix + path, values: values.get(path) ?? [] })),
    reached: paths.at(-1),
    ended: next === undefined,
  };
}

import { exactJson } from "../../../api/exact-json.ts";
import type { GroupBy } from "../../../charts/state/chart-state.ts";
import { COLUMNS_MAX } from "../table/columns.ts";
import type { TableRun } from "../runs/shown-runs.ts";

/** A number over the runs of a group that have it; `std` is the standard deviation of the population. */
export type Spread = { readonly mean: number; readonly std: number; readonly count: number };

/** Runs that have the same values in the columns by which they are grouped. */
export type RunGroup = {
  /** As JSON, in the order of the columns; what names the group in a list. */
  readonly id: string;
  /** A value for each column by which runs are grouped; null where its runs have none. */
  readonly values: readonly unknown[];
  readonly runs: readonly TableRun[];
  /** By the names of columns, of those that are numbers. */
  readonly spreads: ReadonlyMap<string, Spread>;
};

/** Returns the columns by which runs are grouped. "All but" takes the known keys of the configs, as many as the API looks up in addition to `shown`. */
export function groupColumns(
  { names, allBut }: GroupBy,
  configKeys: readonly string[],
  shown: readonly string[],
): string[] {
  if (!allBut) return [...names];
  const isLeftOut = (name: string): boolean => names.some((one) => name === one || name.startsWith(`${one}.`));
  const left = configKeys.map((key) => `config.${key}`).filter((name) => !isLeftOut(name));
  return left.slice(0, Math.max(0, COLUMNS_MAX - shown.length));
}

/** Groups runs by columns, the largest group first, and computes the spread of the numbers in `shown`. */
export function groupRuns(runs: readonly TableRun[], by: readonly string[], shown: readonly string[]): RunGroup[] {
  const groups = new Map<string, { values: unknown[]; runs: TableRun[] }>();
  for (const run of runs) {
    const values = by.map((name) => (name === "tags" ? run.tags.toSorted() : (run.columns?.[name] ?? null)));
    const id = exactJson(values);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { values, runs: [run] });
    else group.runs.push(run);
  }
  return [...groups]
    .map(([id, group]) => ({ id, ...group, spreads: spreadsOf(group.runs, shown) }))
    .toSorted((a, b) => b.runs.length - a.runs.length);
}

function spreadsOf(runs: readonly TableRun[], shown: readonly string[]): Map<string, Spread> {
  const spreads = new Map<string, Spread>();
  for (const name of shown) {
    const numbers = runs.flatMap(({ columns }) => {
      const value = columns?.[name];
      return typeof value === "number" && Number.isFinite(value) ? [value] : [];
    });
    if (numbers.length === 0) continue;
    const mean = numbers.reduce((sum, value) => sum + value / numbers.length, 0);
    const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2 / numbers.length, 0);
    spreads.set(name, { mean, std: Math.sqrt(variance), count: numbers.length });
  }
  return spreads;
}

/** Returns the search that finds the runs of a group; undefined if the language cannot express it, as for missing values. */
export function searchOfGroup(by: readonly string[], values: readonly unknown[]): string | undefined {
  const terms: string[] = [];
  for (const [i, name] of by.entries()) {
    const value = values[i];
    if (name === "tags") {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      terms.push(...value.map((tag) => `tag:${JSON.stringify(tag)}`));
    } else if (!/^config\.[\w./-]+$/.test(name)) return undefined;
    else if (typeof value === "number" || typeof value === "bigint") terms.push(`${name}=${value}`);
    else if (typeof value === "string" && !/["\\]/.test(value)) terms.push(`${name}="${value}"`);
    else return undefined;
  }
  return terms.join(" ");
}

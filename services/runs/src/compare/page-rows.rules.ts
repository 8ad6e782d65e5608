import { compareKeyBytes } from "@tidemark/codecs/metrics";
import type { NumberRow, TextRow } from "./comparison.rules.ts";

/** A value of one run; null at the next path, where the page ends for this run. */
export type AttributeCell = {
  /** Position of the run among the compared runs, from 1. */
  readonly ordinal: number;
  readonly path: string;
  /** JSON. */
  readonly value: string | null;
};

/** The rows that a page completes, the last complete path, and whether every run has been read to its end. */
type AttributeRows = { readonly rows: TextRow[]; readonly reached: string | undefined; readonly ended: boolean };

/**
 * Returns the rows of a page of attributes, by path. Paths are complete up to the first one that the page
 * does not have for some run; the others are read again with the next page.
 */
export function attributeRows(prefix: string, runs: number, cells: readonly AttributeCell[]): AttributeRows {
  const missing = cells.flatMap(({ path, value }) => (value === null ? [path] : []));
  const next = missing.length === 0 ? undefined : missing.reduce((a, b) => (compareKeyBytes(b, a) < 0 ? b : a));
  const values = new Map<string, string[]>();
  for (const { ordinal, path, value } of cells) {
    if (value === null || (next !== undefined && compareKeyBytes(path, next) >= 0)) continue;
    let row = values.get(path);
    if (row === undefined) values.set(path, (row = Array<string>(runs).fill("")));
    row[ordinal - 1] = value;
  }
  const paths = [...values.keys()].sort(compareKeyBytes);
  return {
    rows: paths.map((path) => ({ path: prefix + path, values: values.get(path) ?? [] })),
    reached: paths.at(-1),
    ended: next === undefined,
  };
}

/** The numbers of a metric that are compared, in the order of the paths. */
export const COMPARED_FIGURES = ["latest", "max", "mean"] as const;

/** Some metric keys of one run, in code point order, with a column of numbers per figure. */
export type MetricColumns = {
  readonly keys: readonly string[];
  /** The step of the newest value where that is NaN or infinite, else NaN; empty where no key has one. */
  readonly nonFiniteStep: readonly number[];
} & Readonly<Record<(typeof COMPARED_FIGURES)[number], readonly number[]>>;

/** The next keys of each run, at most `limit` of each. */
type MetricPage = { readonly runs: readonly MetricColumns[]; readonly limit: number };

/** Rows that are complete, and the key to continue after; undefined at the end. */
export type MetricRows = { readonly rows: NumberRow[]; readonly reached: string | undefined };

/**
 * Returns a function that turns pages of metric keys into rows in the order of their paths. That is not
 * exactly the order of keys: `a/b/mean` comes before `a/latest`. Rows wait for the next page if its
 * rows may come before them.
 */
export function startMetricRows(prefix: string): (page: MetricPage) => MetricRows {
  let waiting: NumberRow[] = [];
  return (page) => {
    const reached = reachedBy(page);
    const rows = [...waiting, ...rowsOf(prefix, page, reached)].sort((a, b) => compareKeyBytes(a.path, b.path));
    const bound = reached === undefined ? undefined : prefix + reached;
    const complete =
      bound === undefined ? rows.length : rows.findIndex(({ path }) => compareKeyBytes(path, bound) >= 0);
    waiting = rows.splice(complete < 0 ? rows.length : complete);
    return { rows, reached };
  };
}

/** Returns the last key up to which every run has been read; undefined when all have been read to their ends. */
function reachedBy({ runs, limit }: MetricPage): string | undefined {
  const lasts = runs.flatMap(({ keys }) => (keys.length < limit ? [] : keys.slice(-1)));
  return lasts.length === 0
    ? undefined
    : lasts.reduce((least, last) => (compareKeyBytes(last, least) < 0 ? last : least));
}

function rowsOf(prefix: string, { runs }: MetricPage, reached: string | undefined): NumberRow[] {
  const { keys, indexesOf } = indexKeys(runs, reached);
  const width = runs.length;
  const rowsWith = (name: string, valuesOf: (run: MetricColumns) => readonly number[]): NumberRow[] => {
    const matrix = new Float64Array(keys.length * width).fill(Number.NaN);
    runs.forEach((run, column) => {
      const values = valuesOf(run);
      if (values.length === 0) return;
      indexesOf(run).forEach((index, i) => {
        matrix[index * width + column] = values[i]!;
      });
    });
    return keys.map((key, index) => ({
      path: `${prefix}${key}/${name}`,
      values: matrix.subarray(index * width, (index + 1) * width),
    }));
  };
  const figures = COMPARED_FIGURES.flatMap((figure) => rowsWith(figure, (run) => run[figure]));
  if (runs.every(({ nonFiniteStep }) => nonFiniteStep.length === 0)) return figures;
  // Only of keys with such values: other runs get no rows for them.
  const steps = rowsWith("non_finite_step", ({ nonFiniteStep }) => nonFiniteStep);
  return [...figures, ...steps.filter(({ values }) => !Array.from(values).every(Number.isNaN))];
}

/** Gives an index to each key that some run has, up to the key that every run has reached. */
function indexKeys(runs: readonly MetricColumns[], reached: string | undefined) {
  const indexes = new Map<string, number>();
  // Runs of one program mostly have the same keys, and then share one list of them.
  const indexesOfList = new Map<readonly string[], Int32Array>();
  for (const { keys } of runs) {
    if (indexesOfList.has(keys)) continue;
    const end = reached === undefined ? -1 : keys.findIndex((key) => compareKeyBytes(key, reached) > 0);
    const list = new Int32Array(end < 0 ? keys.length : end);
    list.forEach((_, i) => {
      const key = keys[i]!;
      const index = indexes.get(key) ?? indexes.size;
      indexes.set(key, index);
      list[i] = index;
    });
    indexesOfList.set(keys, list);
  }
  return {
    keys: [...indexes.keys()],
    indexesOf: ({ keys }: MetricColumns) => indexesOfList.get(keys) ?? new Int32Array(),
  };
}

import { compareKeyBytes } from "@tidemark/metric-codec";
import type { NumberRow } from "./comparison.ts";

/** What is compared of a metric, in the order of the paths. */
export const COMPARED_FIGURES = ["latest", "max", "mean"] as const;

/** Some metric keys of one run, in code point order, with a column of numbers per figure. */
export type MetricColumns = { readonly keys: readonly string[] } & Readonly<
  Record<(typeof COMPARED_FIGURES)[number], Float64Array>
>;

/** The next keys of each run, at most `limit` of each. */
export type MetricPage = { readonly runs: readonly MetricColumns[]; readonly limit: number };

/** Rows that no later page can get in between, and the key to go on after; undefined when there is none. */
export type MetricRows = { readonly rows: NumberRow[]; readonly reached: string | undefined };

/**
 * Turns pages of metric keys into rows by path. The order of keys is not quite that of paths: `a/b/mean`
 * comes before `a/latest`. What a later page may get in between of waits for that page.
 */
export function startMetricRows(prefix: string): (page: MetricPage) => MetricRows {
  let waiting: NumberRow[] = [];
  return (page) => {
    const reached = reachedBy(page);
    const rows = [...waiting, ...rowsOf(prefix, page, reached)].sort((a, b) => compareKeyBytes(a.path, b.path));
    const bound = reached === undefined ? undefined : prefix + reached;
    const settled = bound === undefined ? rows.length : rows.findIndex(({ path }) => compareKeyBytes(path, bound) >= 0);
    waiting = rows.splice(settled < 0 ? rows.length : settled);
    return { rows, reached };
  };
}

/** The last key up to which every run has been read; undefined when all have been read to their ends. */
function reachedBy({ runs, limit }: MetricPage): string | undefined {
  const lasts = runs.flatMap(({ keys }) => (keys.length < limit ? [] : keys.slice(-1)));
  return lasts.length === 0
    ? undefined
    : lasts.reduce((least, last) => (compareKeyBytes(last, least) < 0 ? last : least));
}

function rowsOf(prefix: string, { runs }: MetricPage, reached: string | undefined): NumberRow[] {
  const { keys, placesOf } = placeKeys(runs, reached);
  const width = runs.length;
  return COMPARED_FIGURES.flatMap((figure) => {
    const matrix = new Float64Array(keys.length * width).fill(Number.NaN);
    runs.forEach((run, column) => {
      const values = run[figure];
      placesOf(run).forEach((place, i) => {
        matrix[place * width + column] = values[i]!;
      });
    });
    return keys.map((key, place) => ({
      path: `${prefix}${key}/${figure}`,
      values: matrix.subarray(place * width, (place + 1) * width),
    }));
  });
}

/** Gives a place to each key that some run has, up to the one that was reached. */
function placeKeys(runs: readonly MetricColumns[], reached: string | undefined) {
  const places = new Map<string, number>();
  // Runs of one program mostly have the same keys, which then are the same list.
  const placesOfList = new Map<readonly string[], Int32Array>();
  for (const { keys } of runs) {
    if (placesOfList.has(keys)) continue;
    const end = reached === undefined ? -1 : keys.findIndex((key) => compareKeyBytes(key, reached) > 0);
    const list = new Int32Array(end < 0 ? keys.length : end);
    list.forEach((_, i) => {
      const key = keys[i]!;
      const place = places.get(key) ?? places.size;
      places.set(key, place);
      list[i] = place;
    });
    placesOfList.set(keys, list);
  }
  return {
    keys: [...places.keys()],
    placesOf: ({ keys }: MetricColumns) => placesOfList.get(keys) ?? new Int32Array(),
  };
}

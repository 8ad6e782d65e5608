import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compareKeyBytes } from "@tidemark/metric-codec";
import { COMPARED_FIGURES, startMetricRows, type MetricColumns } from "./compare-metrics.ts";

type Metrics = Readonly<Record<string, number>>;

const columnsOf = (metrics: Metrics, keys: readonly string[]): MetricColumns => ({
  keys,
  latest: Float64Array.from(keys, (key) => metrics[key] ?? 0),
  max: Float64Array.from(keys, (key) => (metrics[key] ?? 0) + 1),
  mean: Float64Array.from(keys, (key) => (metrics[key] ?? 0) + 2),
});

/** Pages through the runs as the store would, and returns the rows of each page. */
function pagesOf(runs: readonly Metrics[], limit: number) {
  const sorted = runs.map((metrics) => Object.keys(metrics).sort(compareKeyBytes));
  const rowsOf = startMetricRows("metric/");
  const pages: { path: string; values: number[] }[][] = [];
  let after: string | undefined = "";
  while (after !== undefined) {
    const from: string = after;
    const columns = runs.map((metrics, i) =>
      columnsOf(metrics, (sorted[i] ?? []).filter((key) => compareKeyBytes(key, from) > 0).slice(0, limit)),
    );
    const { rows, reached } = rowsOf({ runs: columns, limit });
    pages.push(rows.map(({ path, values }) => ({ path, values: Array.from(values) })));
    after = reached;
  }
  return pages;
}

/** The same by the definition, all at once. */
function expectedRows(runs: readonly Metrics[]) {
  const keys = [...new Set(runs.flatMap((metrics) => Object.keys(metrics)))];
  return keys
    .flatMap((key) =>
      COMPARED_FIGURES.map((figure, plus) => ({
        path: `metric/${key}/${figure}`,
        values: runs.map((metrics) => (Object.hasOwn(metrics, key) ? (metrics[key] ?? 0) + plus : Number.NaN)),
      })),
    )
    .sort((a, b) => compareKeyBytes(a.path, b.path));
}

describe("metrics beside each other", () => {
  test("have three rows a key", () => {
    expect(pagesOf([{ a: 1, b: 10 }, { a: 2 }], 10)).toEqual([
      [
        { path: "metric/a/latest", values: [1, 2] },
        { path: "metric/a/max", values: [2, 3] },
        { path: "metric/a/mean", values: [3, 4] },
        { path: "metric/b/latest", values: [10, Number.NaN] },
        { path: "metric/b/max", values: [11, Number.NaN] },
        { path: "metric/b/mean", values: [12, Number.NaN] },
      ],
    ]);
  });

  test("of runs without metrics have none", () => expect(pagesOf([{}, {}], 10)).toEqual([[]]));

  test("come in the order of paths, which is not that of keys", () => {
    const runs = [{ a: 1, "a!": 2, "a/b": 3, "a/latest": 4, "a/max/x": 5, a0: 6, b: 7 }];
    for (const limit of [1, 2, 3, 10]) expect(pagesOf(runs, limit).flat()).toEqual(expectedRows(runs));
  });

  test("of a page that ends at a key wait where a later page may get in between", () => {
    const [first] = pagesOf([{ "0": 1, a: 1, "a/b": 3 }], 2);
    expect(first?.map(({ path }) => path)).toEqual(["metric/0/latest", "metric/0/max", "metric/0/mean"]);
  });

  test("are the same in whatever pages they are read", () => {
    const key = fc.string({
      unit: fc.constantFrom("a", "b", "/", "!", "0", "\u{FF01}", "\u{1F600}"),
      minLength: 1,
      maxLength: 4,
    });
    const runs = fc.array(fc.dictionary(key, fc.integer(), { noNullPrototype: true }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 5 }), (metrics, limit) => {
        expect(pagesOf(metrics, limit).flat()).toEqual(expectedRows(metrics));
      }),
    );
  });

  test("count runs that share one list of keys, and others, each by itself", () => {
    const keys = ["a", "b"];
    const rowsOf = startMetricRows("");
    const { rows } = rowsOf({
      runs: [columnsOf({ a: 1, b: 2 }, keys), columnsOf({ a: 3, b: 4 }, keys), columnsOf({ b: 5 }, ["b"])],
      limit: 10,
    });
    expect(rows.filter(({ path }) => path.endsWith("latest")).map(({ values }) => Array.from(values))).toEqual([
      [1, 3, Number.NaN],
      [2, 4, 5],
    ]);
  });
});

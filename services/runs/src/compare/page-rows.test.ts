import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compareKeyBytes } from "@tidemark/codecs/metrics";
import {
  COMPARED_FIGURES,
  attributeRows,
  startMetricRows,
  type AttributeCell,
  type MetricColumns,
} from "./page-rows.rules.ts";

const cells = (...parts: [number, string, string | null][]): AttributeCell[] =>
  parts.map(([ordinal, path, value]) => ({ ordinal, path, value }));

test("the values of a path are grouped, in the order of the paths", () => {
  expect(
    attributeRows("attribute/", 3, cells([1, "b", "1"], [1, "c", '"x"'], [3, "a", "null"], [3, "b", "2"])),
  ).toEqual({
    rows: [
      { path: "attribute/a", values: ["", "", "null"] },
      { path: "attribute/b", values: ["1", "", "2"] },
      { path: "attribute/c", values: ['"x"', "", ""] },
    ],
    reached: "c",
    ended: true,
  });
});

test("paths after the first one that a run still misses are read again", () => {
  const page = cells([1, "a", "1"], [1, "z", "2"], [2, "a", "3"], [2, "b", "4"], [2, "c", null], [3, "x", null]);
  expect(attributeRows("attribute/", 3, page)).toEqual({
    rows: [
      { path: "attribute/a", values: ["1", "3", ""] },
      { path: "attribute/b", values: ["", "4", ""] },
    ],
    reached: "b",
    ended: false,
  });
});

test("a page that completes no path says that it is not the end", () => {
  expect(attributeRows("attribute/", 2, cells([1, "a", "1"], [2, "a", null]))).toEqual({
    rows: [],
    reached: undefined,
    ended: false,
  });
});

test("paths are ordered by code points", () => {
  const { rows } = attributeRows("", 1, cells([1, "\u{1F600}", "1"], [1, "\u{FF01}", "2"], [1, "é", "3"]));
  expect(rows.map(({ path }) => path)).toEqual(["é", "\u{FF01}", "\u{1F600}"]);
});

type Metrics = Readonly<Record<string, number>>;

const columnsOf = (metrics: Metrics, keys: readonly string[]): MetricColumns => ({
  keys,
  latest: Array.from(keys, (key) => metrics[key] ?? 0),
  max: Array.from(keys, (key) => (metrics[key] ?? 0) + 1),
  mean: Array.from(keys, (key) => (metrics[key] ?? 0) + 2),
  nonFiniteStep: [],
});

test("only keys of which a run's newest value is not finite have a row with its step", () => {
  const keys = ["a", "b"];
  const finite = columnsOf({ a: 1, b: 2 }, keys);
  const { rows } = startMetricRows("metric/")({
    runs: [finite, { ...finite, nonFiniteStep: [Number.NaN, 7] }, columnsOf({}, [])],
    limit: 9,
  });
  expect(rows.map(({ path, values }) => [path, Array.from(values)])).toContainEqual([
    "metric/b/non_finite_step",
    [Number.NaN, 7, Number.NaN],
  ]);
  expect(rows.map(({ path }) => path.slice("metric/".length))).toEqual(
    "a/latest a/max a/mean b/latest b/max b/mean b/non_finite_step".split(" "),
  );
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

/** The same by the definition, in one step. */
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

describe("metrics side by side", () => {
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

  test("are in the order of paths, which is not that of keys", () => {
    const runs = [{ a: 1, "a!": 2, "a/b": 3, "a/latest": 4, "a/max/x": 5, a0: 6, b: 7 }];
    for (const limit of [1, 2, 3, 10]) expect(pagesOf(runs, limit).flat()).toEqual(expectedRows(runs));
  });

  test("of a page that ends at a key wait where a later page may get in between", () => {
    const [first] = pagesOf([{ "0": 1, a: 1, "a/b": 3 }], 2);
    expect(first?.map(({ path }) => path)).toEqual(["metric/0/latest", "metric/0/max", "metric/0/mean"]);
  });

  test("are the same in pages of any size", () => {
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

import { describe, expect, test } from "@jest/globals";

import { isMinimizeKey } from "@tidemark/values/metric-direction";
import { columnsOf, columnsOfSeries } from "../columns/metric-columns.fixture.ts";
import { aggregatesOfColumns, bestOf, populationVariance, type KeyAggregate } from "./key-aggregates.ts";
import { MERGES } from "./merge-aggregates.fixture.ts";

/** Returns the aggregate of points of one key, given as [step, value] in the order of their arrival. */
function aggregate(...points: [step: number, value: number][]): KeyAggregate {
  return aggregatesOfColumns(columnsOfSeries("k", ...points))[0]!;
}

type Points = [step: number, value: number][];

const rows: [name: string, points: Points, expected: Partial<KeyAggregate>][] = [
  [
    "one point is minimum, maximum, mean and latest",
    [[3, 0.5]],
    {
      count: 1,
      min: 0.5,
      minStep: 3,
      max: 0.5,
      maxStep: 3,
      mean: 0.5,
      m2: 0,
      latest: 0.5,
      latestStep: 3,
      firstStep: 3,
    },
  ],
  [
    "the latest value is the one at the highest step, not the one that arrived last",
    [
      [1, 10],
      [9, 20],
      [5, 30],
    ],
    { latest: 20, latestStep: 9 },
  ],
  [
    "of several values at the highest step the newest arrival is the latest",
    [
      [9, 10],
      [1, 5],
      [9, 20],
    ],
    { latest: 20, latestStep: 9 },
  ],
  [
    "the first step is the lowest, not the one that arrived first",
    [
      [5, 1],
      [2, 1],
      [7, 1],
    ],
    { firstStep: 2 },
  ],
  [
    "of equal minima the lowest step counts, also if it arrived later",
    [
      [8, 1],
      [2, 1],
      [5, 1],
      [1, 3],
    ],
    { min: 1, minStep: 2 },
  ],
  [
    "of equal maxima the lowest step counts, also if it arrived later",
    [
      [8, 4],
      [2, 4],
      [5, 4],
      [1, 3],
    ],
    { max: 4, maxStep: 2 },
  ],
  [
    "a smaller minimum counts at any step",
    [
      [1, 5],
      [9, 4],
    ],
    { min: 4, minStep: 9 },
  ],
  [
    "mean and squared deviations are those of the population",
    [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 6],
    ],
    { count: 4, mean: 3, m2: 14 },
  ],
  [
    "equal values have exactly their value as mean and no variance",
    Array.from({ length: 500 }, (_, i): [number, number] => [i, 0.1]),
    { mean: 0.1, m2: 0 },
  ],
  [
    "a small spread around a large mean keeps its variance",
    [
      [1, 1e9 + 4],
      [2, 1e9 + 7],
      [3, 1e9 + 13],
      [4, 1e9 + 16],
    ],
    { mean: 1e9 + 10, m2: 90 },
  ],
  [
    "values whose sum is beyond a double have a mean",
    [
      [1, 1.5e308],
      [2, 1.7e308],
    ],
    { mean: 1.6e308, m2: Infinity },
  ],
  [
    "values at opposite ends of the doubles have a mean",
    [
      [1, 1.5e308],
      [2, -1.5e308],
    ],
    { mean: 0, m2: Infinity },
  ],
  [
    "fractional steps are steps",
    [
      [1.5, 1],
      [1.25, 2],
    ],
    { firstStep: 1.25, latestStep: 1.5, latest: 1 },
  ],
];

describe("the aggregate of a batch", () => {
  test.each(rows)("%s", (_, points, expected) => {
    expect(aggregate(...points)).toMatchObject({ key: "k", ...expected });
  });

  test("there is one per key, in the order of their bytes, each with its own points only", () => {
    const aggregates = aggregatesOfColumns(
      columnsOf([
        { metrics: { "\u{1f600}": 1, b: 3 }, step: 5, timestampUs: null },
        { metrics: { b: 4, "\uffee": 7 }, step: 6, timestampUs: null },
        { metrics: { b: 5 }, step: 4, timestampUs: null },
      ]),
    );
    expect(
      aggregates.map(({ key, count, latest, firstStep, latestStep }) => [key, count, latest, firstStep, latestStep]),
    ).toEqual([
      ["b", 3, 4, 4, 6],
      ["\uffee", 1, 7, 6, 6],
      ["\u{1f600}", 1, 1, 5, 5],
    ]);
  });

  test("no points have no aggregates", () => {
    expect(aggregatesOfColumns(columnsOf([]))).toEqual([]);
  });

  test("the population variance divides by the number of values", () => {
    expect(populationVariance(aggregate([1, 1], [2, 2], [3, 3], [4, 6]))).toBe(3.5);
    expect(populationVariance(aggregate([1, 7]))).toBe(0);
  });

  test("a mean that no double can be does not falsify the squared deviations", () => {
    const next = 1 + Number.EPSILON;
    expect(aggregate([1, 1], [2, next], [3, next]).m2 / Number.EPSILON ** 2).toBeCloseTo(2 / 3, 12);
  });
});

describe.each(MERGES)("aggregates of single points that are merged %s", (_, merge) => {
  test.each(rows)("%s", (_name, points, expected) => {
    const [first, ...rest] = points.map((point) => aggregate(point));
    expect(rest.reduce((merged, next) => merge(merged, next), first!)).toMatchObject({ key: "k", ...expected });
  });

  test("keep an infinite sum of squares infinite, and make no NaN", () => {
    const huge = aggregate([1, 1.5e308], [2, -1.5e308]);
    for (const merged of [merge(huge, aggregate([3, 1])), merge(aggregate([3, 1]), huge), merge(huge, huge)]) {
      expect(merged.m2).toBe(Infinity);
      expect(merged.mean).not.toBeNaN();
    }
  });
});

const words = ["loss", "error", "err", "perplexity", "ppl", "wer", "cer", "mae", "mse", "rmse", "nll", "kl", "regret"];

describe("keys of which less is better", () => {
  test.each(words)("%s is one, alone and as any part between slashes and underscores", (word) => {
    const spellings = [
      word,
      word.toUpperCase(),
      `train/${word}`,
      `${word}/val`,
      `eval_${word}`,
      `a/b_${word}_c`,
      `_${word}`,
      `x//${word}/`,
    ];
    for (const key of spellings) expect([key, isMinimizeKey(key)]).toEqual([key, true]);
  });

  test.each([
    "accuracy",
    "lossy",
    "myloss",
    "loss-rate",
    "train.loss",
    "val loss",
    "errors",
    "cerebro",
    "",
    "/",
    "_",
    "mean",
    "reward",
  ])("%j is not one", (key) => {
    expect(isMinimizeKey(key)).toBe(false);
  });
});

describe("the best value", () => {
  const aggregate = { min: 1, minStep: 10, max: 5, maxStep: 50 };

  test.each([
    ["of a key of which less is better is the minimum", "train/loss", { best: 1, bestStep: 10 }],
    ["of any other key is the maximum", "train/acc", { best: 5, bestStep: 50 }],
  ])("%s", (_, key, expected) => {
    expect(bestOf(aggregate, key)).toEqual(expected);
  });
});

import { describe, expect, test } from "@jest/globals";

import { bestOf, isMinimizeKey } from "./key-aggregates.ts";

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
    ["of a minimise key is the minimum", "train/loss", { best: 1, bestStep: 10 }],
    ["of any other key is the maximum", "train/acc", { best: 5, bestStep: 50 }],
  ])("%s", (_, key, expected) => {
    expect(bestOf(aggregate, key)).toEqual(expected);
  });
});

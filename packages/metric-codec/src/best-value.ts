import type { KeyAggregate } from "./heads.ts";

const MINIMISE_WORDS: ReadonlySet<string> = new Set([
  "loss",
  "error",
  "err",
  "perplexity",
  "ppl",
  "wer",
  "cer",
  "mae",
  "mse",
  "rmse",
  "nll",
  "kl",
  "regret",
]);

/** Whether less is better for this metric: any part of the key between `/` and `_` is, in whatever case, a word such as loss, error or rmse. */
export function isMinimizeKey(key: string): boolean {
  return key
    .toLowerCase()
    .split(/[/_]/)
    .some((part) => MINIMISE_WORDS.has(part));
}

/** The best value of a key and the lowest step at which it was seen: the minimum of a minimise key, else the maximum. */
export function bestOf(
  aggregate: Pick<KeyAggregate, "min" | "minStep" | "max" | "maxStep">,
  key: string,
): { best: number; bestStep: number } {
  return isMinimizeKey(key)
    ? { best: aggregate.min, bestStep: aggregate.minStep }
    : { best: aggregate.max, bestStep: aggregate.maxStep };
}

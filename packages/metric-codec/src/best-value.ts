import type { HeadDelta } from "./heads.ts";

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
export function isMinimiseKey(key: string): boolean {
  return key
    .toLowerCase()
    .split(/[/_]/)
    .some((part) => MINIMISE_WORDS.has(part));
}

/** The best value of a key and the lowest step at which it was seen: the minimum of a minimise key, else the maximum. */
export function bestOf(
  head: Pick<HeadDelta, "min" | "minStep" | "max" | "maxStep">,
  key: string,
): { best: number; bestStep: number } {
  return isMinimiseKey(key) ? { best: head.min, bestStep: head.minStep } : { best: head.max, bestStep: head.maxStep };
}

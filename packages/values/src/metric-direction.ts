const MINIMIZED_WORDS: ReadonlySet<string> = new Set([
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

/** Whether less is better for this metric: a part of its key between `/` and `_` is, in any case, a word such as loss, error or rmse. */
export function isMinimizeKey(key: string): boolean {
  return key
    .toLowerCase()
    .split(/[/_]/)
    .some((part) => MINIMIZED_WORDS.has(part));
}

const MAXIMIZED_WORDS: ReadonlySet<string> = new Set([
  "acc",
  "accuracy",
  "auc",
  "auroc",
  "bleu",
  "f1",
  "iou",
  "map",
  "miou",
  "precision",
  "psnr",
  "r2",
  "recall",
  "return",
  "reward",
  "rouge",
  "score",
  "ssim",
  "top1",
  "top5",
]);

/** Whether less (`min`) or more (`max`) of a metric is better, as the words of its key say; undefined where they do not. */
export function metricDirection(key: string): "min" | "max" | undefined {
  if (isMinimizeKey(key)) return "min";
  const parts = key.toLowerCase().split(/[/_@]/);
  return parts.some((part) => MAXIMIZED_WORDS.has(part)) ? "max" : undefined;
}

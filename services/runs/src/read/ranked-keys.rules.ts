import { compareKeyBytes } from "@tidemark/codecs/metrics";
import { metricKeysOf, numbersOf, type MetricRow } from "../metrics/aggregates.rules.ts";

/** The keys of a run with their numbers of points. */
export type KeyCountsRow = Pick<MetricRow, "metric_keys" | "metric_count">;

/** The prefix of keys that measure machines and not the training. */
const SYSTEM_PREFIX = "system/instantml/";

/** Returns the keys that have the most points in these runs, the first in code point order among equals (contract of embed sessions, generated view). */
export function rankMetricKeys(runs: readonly KeyCountsRow[], keysMax: number): string[] {
  const totals = new Map<string, number>();
  for (const run of runs) {
    const counts = numbersOf(run.metric_count);
    metricKeysOf(run).forEach((key, i) => totals.set(key, (totals.get(key) ?? 0) + counts[i]!));
  }
  return [...totals]
    .filter(([key]) => !key.startsWith(SYSTEM_PREFIX))
    .toSorted(([a, points], [b, others]) => others - points || compareKeyBytes(a, b))
    .slice(0, keysMax)
    .map(([key]) => key);
}

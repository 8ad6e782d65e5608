import { HISTOGRAM_COUNTS_MAX } from "@tidemark/limits";
import type { HistogramValue } from "./items.ts";

/**
 * Returns a histogram of edges and the counts between them (one fewer), or undefined where the numbers do not make one: not finite, counts below 0, lengths that do
 * not fit. Neighbors are added up, two and two, until there are few enough for an object.
 */
export function histogramOf(edges: readonly number[], counts: readonly number[]): HistogramValue | undefined {
  if (counts.length === 0 || edges.length !== counts.length + 1) return undefined;
  if (!edges.every(Number.isFinite) || !counts.every((count) => Number.isFinite(count) && count >= 0)) return undefined;
  let [bins, sums] = [edges, counts];
  while (sums.length > HISTOGRAM_COUNTS_MAX) {
    const all = sums;
    const last = bins.at(-1)!;
    bins = [...bins.slice(0, -1).filter((_, i) => i % 2 === 0), last];
    sums = all.flatMap((count, i) => (i % 2 === 0 ? [count + (all[i + 1] ?? 0)] : []));
  }
  return { bins, counts: sums };
}

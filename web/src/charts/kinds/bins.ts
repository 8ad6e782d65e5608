import type { Histogram } from "../../media/histogram-bars.ts";
import type { Sheet } from "./sheet.ts";

/** A histogram that was logged at a step. */
export type StepHistogram = { readonly step: number; readonly histogram: Histogram };

/** Histograms of several steps over the same bins. */
export type StepBins = {
  /** Ascending, each as far from the next; one more than a step has counts. */
  readonly edges: readonly number[];
  readonly steps: readonly number[];
  /** By step, then by bin. */
  readonly counts: readonly (readonly number[])[];
  /** Each count as a share of all values of its step, so that steps with more values do not look different. */
  readonly shares: readonly (readonly number[])[];
  /** The largest share. */
  readonly most: number;
};

/** Returns at most `most` of some things, evenly chosen, the first and the last among them. */
export function evenly<T>(things: readonly T[], most: number): readonly T[] {
  if (things.length <= most) return things;
  const places = Array.from({ length: most }, (_, i) => Math.round((i * (things.length - 1)) / (most - 1)));
  return places.map((place) => things[place]!);
}

/**
 * Puts histograms over common bins of one width, from the lowest edge of all to the highest. The counts of a bin that reaches into several are divided by
 * the parts of its width, so that the number of values of each step stays the same. Undefined where there is nothing, or its range is beyond all numbers.
 */
export function commonBins(histograms: readonly StepHistogram[], bins: number): StepBins | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (const { histogram } of histograms)
    for (const edge of histogram.edges) {
      low = Math.min(low, edge);
      high = Math.max(high, edge);
    }
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const width = (high - low) / bins;
  if (!(width > 0) || !Number.isFinite(width)) return undefined;
  const edges = Array.from({ length: bins + 1 }, (_, i) => (i === bins ? high : low + i * width));
  const counts = histograms.map(({ histogram }) => rebinned(histogram, low, width, bins));
  const shares = counts.map((row) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return row.map((count) => (total > 0 ? count / total : 0));
  });
  const most = shares.reduce((best, row) => row.reduce((a, b) => Math.max(a, b), best), 0);
  return { edges, steps: histograms.map(({ step }) => step), counts, shares, most };
}

function rebinned({ edges, counts }: Histogram, low: number, width: number, bins: number): number[] {
  const out = Array.from({ length: bins }, () => 0);
  const binOf = (value: number): number => Math.min(bins - 1, Math.max(0, Math.floor((value - low) / width)));
  for (const [i, count] of counts.entries()) {
    if (!(count > 0)) continue;
    // Clients may log edges in any order.
    const [from, to] = [Math.min(edges[i]!, edges[i + 1]!), Math.max(edges[i]!, edges[i + 1]!)];
    const [first, last] = [binOf(from), binOf(to)];
    if (first === last || from === to) {
      out[first]! += count;
      continue;
    }
    for (let bin = first; bin <= last; bin += 1) {
      // The sum of widths may miss the last edge by a digit.
      const end = bin === bins - 1 ? to : Math.min(to, low + (bin + 1) * width);
      const overlap = end - Math.max(from, low + bin * width);
      if (overlap > 0) out[bin]! += (count * overlap) / (to - from);
    }
  }
  return out;
}

/** Returns histograms over common bins as a table: a row for each step and bin. */
export function binsSheet({ edges, steps, counts, shares }: StepBins): Sheet {
  return {
    head: ["step", "from", "to", "count", "share"],
    rows: steps.flatMap((step, s) =>
      counts[s]!.map((count, bin) => [step, edges[bin], edges[bin + 1], count, shares[s]![bin]]),
    ),
  };
}

/** A histogram: `edges` has one more number than `counts`. */
export type Histogram = { readonly edges: readonly number[]; readonly counts: readonly number[] };

const numbersOf = (value: unknown): readonly number[] | undefined =>
  Array.isArray(value) && value.every((one) => typeof one === "number" || typeof one === "bigint")
    ? value.map(Number)
    : undefined;

/** Reads the value of a histogram; bins that are as many as counts are centers, from which edges are made. Undefined for anything else. */
export function readHistogram(value: unknown): Histogram | undefined {
  if (typeof value !== "object" || value === null || !("bins" in value) || !("counts" in value)) return undefined;
  const [bins, counts] = [numbersOf(value.bins), numbersOf(value.counts)];
  if (bins === undefined || counts === undefined || counts.length === 0) return undefined;
  if (bins.length === counts.length + 1) return { edges: bins, counts };
  return bins.length === counts.length ? { edges: edgesAround(bins), counts } : undefined;
}

function edgesAround(centers: readonly number[]): readonly number[] {
  const middles = centers.slice(1).map((center, i) => (center + centers[i]!) / 2);
  const first = centers[0]!;
  const last = centers.at(-1)!;
  const half = middles.length === 0 ? 0.5 : middles[0]! - first;
  return [first - half, ...middles, last + (middles.length === 0 ? 0.5 : last - middles.at(-1)!)];
}

/** A bar in a box of `width` by `height`, with its meaning. */
export type Bar = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly words: string;
};

/** A range of the horizontal axis. */
export type HistogramRange = { readonly from: number; readonly to: number };

/** Returns the range that covers some values of histograms; undefined where none can be read or it has no width. */
export function commonRange(values: readonly unknown[]): HistogramRange | undefined {
  let [from, to] = [Infinity, -Infinity];
  for (const value of values) {
    const histogram = readHistogram(value);
    if (histogram === undefined) continue;
    from = Math.min(from, histogram.edges[0]!);
    to = Math.max(to, histogram.edges.at(-1)!);
  }
  return from < to && Number.isFinite(to - from) ? { from, to } : undefined;
}

/**
 * Returns the bars of a histogram, from left to right, in its own range or another one that covers it. Bins are drawn as wide as they are, or alike where
 * their widths are none.
 */
export function barsOf(
  { edges, counts }: Histogram,
  width: number,
  height: number,
  range: HistogramRange = { from: edges[0]!, to: edges.at(-1)! },
): readonly Bar[] {
  const most = Math.max(...counts, Number.MIN_VALUE);
  const { from } = range;
  const length = range.to - from;
  const isSound = length > 0 && Number.isFinite(length) && edges.every((edge, i) => i === 0 || edge >= edges[i - 1]!);
  const place = (i: number): number => (isSound ? ((edges[i]! - from) / length) * width : (i / counts.length) * width);
  const short = (value: number): string => String(Number(value.toPrecision(4)));
  return counts.map((count, i) => {
    const tall = Math.max(0, (count / most) * height);
    const words = `${short(edges[i]!)} to ${short(edges[i + 1]!)}: ${short(count)}`;
    return { x: place(i), y: height - tall, width: Math.max(0.5, place(i + 1) - place(i)), height: tall, words };
  });
}

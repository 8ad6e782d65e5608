import { createColumnsBuilder, type MetricColumns } from "@tidemark/codecs/metrics";
import type { Content } from "../content/content.rules.ts";

/** Returns the bit of a point in a set of points; false without a set. */
export function hasBit(bits: Uint8Array | null, index: number): boolean {
  return bits !== null && ((bits[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

/** Returns the numbers of the points of each source that `isWanted`, in their order. */
export function pointsBySource(
  { sources, points }: Content,
  isWanted: (source: number, point: number) => boolean,
): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const wantedOf = sources.map((): number[] => []);
  for (let i = 0; i < points.sources.length; i++) {
    const source = points.sources[i]!;
    if (isWanted(source, i)) wantedOf[source]!.push(i);
  }
  wantedOf.forEach((indexes, source) => {
    if (indexes.length > 0) found.set(source, indexes);
  });
  return found;
}

/**
 * Returns points as one write. Neighbors of one step and time are one point of several keys, as they were logged; a repeated key begins the
 * next point, so that no value is lost.
 */
export function columnsOf({ keys, points }: Content, indexes: readonly number[]): MetricColumns {
  const builder = createColumnsBuilder({ readOther: (value) => value as number });
  const { steps, timesUs, values } = points;
  let metrics: Record<string, number> = emptyObject();
  let begun = new Set<number>();
  let step = 0;
  let timeUs = Number.NaN;
  const flush = (): void => {
    if (begun.size > 0) builder.addPoint(metrics, step, Number.isNaN(timeUs) ? null : timeUs);
  };
  for (const i of indexes) {
    const key = points.keys[i]!;
    const isSame = steps[i] === step && Object.is(timesUs[i], timeUs) && !begun.has(key);
    if (!isSame) {
      flush();
      metrics = emptyObject();
      begun = new Set();
      step = steps[i]!;
      timeUs = timesUs[i]!;
    }
    begun.add(key);
    metrics[keys[key]!] = values[i]!;
  }
  flush();
  return builder.build();
}

/** Without a prototype, because any text may be a key. */
function emptyObject(): Record<string, number> {
  return Object.create(null) as Record<string, number>;
}

/** The most bytes of rows that are sent to their service in one request, unless one row alone has more (4 MiB). */
export const BYTES_TOGETHER_MAX = 4 * 1024 * 1024;

/** Splits items into slices of at most `itemsMax`, and at most `weightMax` unless one item alone is heavier. */
export function slicesOf<T>(
  items: readonly T[],
  itemsMax: number,
  weightMax = Infinity,
  weightOf: (item: T) => number = () => 0,
): T[][] {
  const slices: T[][] = [];
  let slice: T[] = [];
  let weight = 0;
  for (const item of items) {
    const added = weightOf(item);
    if (slice.length > 0 && (slice.length >= itemsMax || weight + added > weightMax)) {
      slices.push(slice);
      slice = [];
      weight = 0;
    }
    slice.push(item);
    weight += added;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

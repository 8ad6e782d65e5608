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

/** Characters that the parts of a line have together, plus at most those of one part. */
const CHARACTERS_MAX = 256 * 1024;

/** Cuts a list into parts of at most `itemsMax` items and about the number of characters that a line should have. */
export function* boundedParts<T>(
  items: readonly T[],
  itemsMax: number,
  charactersOf: (item: T) => number,
): Generator<{ readonly from: number; readonly to: number }, void, undefined> {
  let from = 0;
  let characters = 0;
  for (let at = 0; at < items.length; at++) {
    if (at > from && (at - from >= itemsMax || characters >= CHARACTERS_MAX)) {
      yield { from, to: at };
      from = at;
      characters = 0;
    }
    characters += charactersOf(items[at]!);
  }
  if (from < items.length) yield { from, to: items.length };
}

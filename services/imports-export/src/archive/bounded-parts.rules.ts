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

/** Returns how many letters have to be added, removed, replaced or swapped with the next to make one text of another; `most + 1` for more than `most`. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
    }
    if (Math.min(...next) > most) return most + 1;
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** Longer texts than this are not compared: the work grows with the square of their length. */
const COMPARED_MAX = 100;

/**
 * Returns the candidate that a mistyped text was most likely meant to be: a quarter of its letters may differ, and at least two. What it begins with
 * is nearer than what is only spelled like it. Undefined: none is near.
 */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  if (text.length > COMPARED_MAX) return undefined;
  const lowered = text.toLowerCase();
  // A text of two letters is not near to any other of two letters.
  const most = Math.min(Math.max(2, Math.floor(text.length / 4)), text.length - 1);
  let best: { readonly candidate: string; readonly rank: number } | undefined;
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    const distance = other.length > COMPARED_MAX ? Infinity : editDistance(lowered, other, most);
    const rank = lowered.startsWith(other) ? distance / 2 : distance;
    if (distance <= most && rank < (best?.rank ?? Infinity)) best = { candidate, rank };
  }
  return best?.candidate;
}

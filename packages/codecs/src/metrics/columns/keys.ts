const SURROGATE = /[\ud800-\udfff]/;

/**
 * Compares two metric keys by their UTF-8 bytes, as PostgreSQL's collation "C" does: negative, zero or positive. The UTF-16 order
 * of `<` differs from it if a key has characters beyond U+FFFF.
 */
export function compareKeyBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointOrder(x) - codePointOrder(y);
  }
  return a.length - b.length;
}

/** Sorts distinct keys by their UTF-8 bytes, in place. */
export function sortKeys(keys: string[]): string[] {
  return isNativeOrder(keys) ? keys.sort() : keys.sort(compareKeyBytes);
}

/** Whether the keys are distinct and in the order of {@link compareKeyBytes}. */
export function areKeysSorted(keys: readonly string[]): boolean {
  const native = isNativeOrder(keys);
  for (let i = 1; i < keys.length; i++) {
    const a = keys[i - 1]!;
    const b = keys[i]!;
    if (native ? a >= b : compareKeyBytes(a, b) >= 0) return false;
  }
  return true;
}

/** Whether `<`, which is ten times faster, orders these keys by their bytes. It does if no key has a surrogate. */
function isNativeOrder(keys: readonly string[]): boolean {
  return !keys.some((key) => SURROGATE.test(key));
}

/** Moves surrogates above the rest of the first plane, which is where the characters that they encode belong. */
function codePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The distinct ids of several ascending lists, and a look-up of their indexes. */
export type KeyNumbers = { readonly keyIds: Uint32Array; readonly indexOf: (keyId: number) => number };

/** With more slots than this per listed id, a table over the whole range of ids costs more than a search. */
const TABLE_SLOTS_PER_ID = 32;

/** Merges several ascending lists of ids and numbers the distinct ones. The ids of a run count from 0, so a table over their range usually suffices. */
export function numberKeyIds(lists: readonly Uint32Array[]): KeyNumbers {
  let listed = 0;
  let lowest = Infinity;
  let highest = -1;
  for (const ids of lists) {
    if (ids.length === 0) continue;
    listed += ids.length;
    lowest = Math.min(lowest, ids[0]!);
    highest = Math.max(highest, ids[ids.length - 1]!);
  }
  if (listed === 0) return { keyIds: new Uint32Array(0), indexOf: () => 0 };
  return highest - lowest < TABLE_SLOTS_PER_ID * listed ? byTable(lists, lowest, highest) : bySearch(lists, listed);
}

function byTable(lists: readonly Uint32Array[], lowest: number, highest: number): KeyNumbers {
  const indexes = new Uint32Array(highest - lowest + 1);
  for (const ids of lists) for (let i = 0; i < ids.length; i++) indexes[ids[i]! - lowest] = 1;
  const keyIds = new Uint32Array(indexes.length);
  let count = 0;
  for (let slot = 0; slot < indexes.length; slot++) {
    if (indexes[slot] === 0) continue;
    keyIds[count] = lowest + slot;
    indexes[slot] = count;
    count += 1;
  }
  return { keyIds: keyIds.slice(0, count), indexOf: (keyId) => indexes[keyId - lowest]! };
}

function bySearch(lists: readonly Uint32Array[], listed: number): KeyNumbers {
  const sorted = new Uint32Array(listed);
  let at = 0;
  for (const ids of lists) {
    sorted.set(ids, at);
    at += ids.length;
  }
  sorted.sort();
  const keyIds = sorted.filter((id, i) => i === 0 || id !== sorted[i - 1]);
  return { keyIds, indexOf: (keyId) => lowerBound(keyIds, keyId, 0, keyIds.length) };
}

/** Returns the first index in `[from, to)` of an ascending array whose number is not below `wanted`, or `to` if there is none. */
export function lowerBound(ascending: Uint32Array, wanted: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

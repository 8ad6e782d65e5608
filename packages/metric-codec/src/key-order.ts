const SURROGATE = /[\ud800-\udfff]/;

/**
 * Compares two metric keys by their UTF-8 bytes, as PostgreSQL's collation "C" does: negative, zero or positive. UTF-16 order, which `<`
 * gives, differs from it where a key holds characters beyond U+FFFF.
 */
export function compareKeyBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
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

/** Whether `<`, which is ten times faster, orders these keys by their bytes: so it is while none holds a surrogate. */
function isNativeOrder(keys: readonly string[]): boolean {
  return !keys.some((key) => SURROGATE.test(key));
}

/** Moves surrogates above the rest of the first plane, where the characters that they stand for belong. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

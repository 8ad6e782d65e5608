/** Decides which keys a search finds; `fault` says what is wrong with it. */
export type KeyMatch = { readonly test: (key: string) => boolean; readonly fault: string | undefined };

const PATTERN = /^re:\/(.*)\/$|^\/(.+)\/$/s;

/** Longer patterns are not for keys. */
const PATTERN_LENGTH_MAX = 128;

/** Keys have at most 512 bytes, so even a pattern that goes back and forth much ends soon; nested repetition is refused. */
const NESTED = /[+*}][^()]*\)[+*{]/;

/**
 * Reads a search for keys: words that a key must all have, in any case, or a regular expression as `re:/…/` or `/…/`. A faulty one finds all
 * keys, so that nothing vanishes while the user types.
 */
export function keyMatch(search: string): KeyMatch {
  const found = PATTERN.exec(search.trim());
  const all = { test: () => true };
  if (found === null) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return { test: (key) => words.every((word) => key.toLowerCase().includes(word)), fault: undefined };
  }
  const source = found[1] ?? found[2] ?? "";
  if (source.length > PATTERN_LENGTH_MAX)
    return { ...all, fault: `A pattern has at most ${PATTERN_LENGTH_MAX} characters.` };
  if (NESTED.test(source)) return { ...all, fault: "A pattern must not repeat what repeats itself." };
  try {
    const pattern = new RegExp(source, "u");
    return { test: (key) => pattern.test(key), fault: undefined };
  } catch {
    // A half-typed expression is shown as one.
    return { ...all, fault: "This is not a regular expression." };
  }
}

import { lowerAscii } from "@tidemark/values/run-search";
import { badRequest } from "@tidemark/errors";
import { compareKeyBytes } from "@tidemark/codecs/metrics";

/** The kinds of keys. */
export const KEY_KINDS = ["attribute", "config", "metric"] as const;

/** A member of `KEY_KINDS`. */
export type KeyKind = (typeof KEY_KINDS)[number];

/** A key of a project: a metric key, the path of an attribute, or a config key with nested keys joined by dots. */
export type Key = {
  readonly kind: KeyKind;
  readonly name: string;
  /** The name, its ASCII letters in lower case. */
  readonly lowered: string;
  /** How many runs have it. */
  readonly runs: number;
};

/** Returns a key. */
export function keyOf(kind: KeyKind, name: string, runs: number): Key {
  const lowered = lowerAscii(name);
  return { kind, name, lowered: lowered === name ? name : lowered, runs };
}

/** Reads a kind; the empty text is none. @throws bad_request with field `kind` */
export function readKind(text: string): KeyKind | undefined {
  if (text === "") return undefined;
  const kind = KEY_KINDS.find((known) => known === text);
  if (kind === undefined) throw badRequest(`kind must be one of ${KEY_KINDS.join(", ")}`, "kind");
  return kind;
}

/** Reads what names are searched for: a regular expression between `re:/` and `/`, else a plain part. Blank: undefined. */
export function readKeySearch(q: string): { readonly part: string } | { readonly pattern: string } | undefined {
  const text = q.trim();
  if (text === "") return undefined;
  const pattern = /^re:\/(.+)\/$/su.exec(text)?.[1];
  return pattern === undefined ? { part: lowerAscii(text) } : { pattern: pattern.replaceAll(String.raw`\/`, "/") };
}

/** A place in a list of keys by name and kind. */
export type KeyPlace = { readonly name: string; readonly kind: KeyKind };

function compareKeys(a: KeyPlace, b: KeyPlace): number {
  return compareKeyBytes(a.name, b.name) || KEY_KINDS.indexOf(a.kind) - KEY_KINDS.indexOf(b.kind);
}

/** Yields the keys of lists, each of one kind and sorted by name, in the order of name and kind: those that start with a prefix, behind a place. */
export function* keysFrom(
  lists: readonly (readonly Key[])[],
  { prefix, after }: { readonly prefix: string; readonly after: KeyPlace | undefined },
): Generator<Key> {
  const next = lists.map((list) => firstBehind(list, prefix, after));
  for (;;) {
    let chosen = -1;
    for (let i = 0; i < lists.length; i += 1) {
      const key = lists[i]?.[next[i]!];
      if (key === undefined || !key.name.startsWith(prefix)) continue;
      const best = lists[chosen]?.[next[chosen]!];
      if (best === undefined || compareKeys(key, best) < 0) chosen = i;
    }
    const key = lists[chosen]?.[next[chosen]!];
    if (key === undefined) return;
    next[chosen]! += 1;
    yield key;
  }
}

/** Returns the index of the first key that is not before the prefix, and behind the place. */
function firstBehind(list: readonly Key[], prefix: string, after: KeyPlace | undefined): number {
  const isBefore = (key: Key): boolean =>
    compareKeyBytes(key.name, prefix) < 0 || (after !== undefined && compareKeys(key, after) <= 0);
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(list[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

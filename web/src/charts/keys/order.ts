import { natural, ownSection, type MovedKey } from "./sections.ts";

/** Keys in an order of a person's own that an address holds. */
const ORDER_MAX = 100;

/** Returns the keys of a section in a person's order: those that it names first, then the others as they are. */
export function inOrder(keys: readonly string[], order: readonly string[]): readonly string[] {
  const own = new Set(keys);
  const first = order.filter((key) => own.has(key));
  return first.length === 0 ? keys : [...new Set([...first, ...keys])];
}

/** Returns a list in which an entry has moved to another place; outside the list it moves to its end. */
export function movedTo(list: readonly string[], entry: string, to: number): readonly string[] {
  const others = list.filter((one) => one !== entry);
  return others.toSpliced(Math.max(0, Math.min(others.length, to)), 0, entry);
}

/** Returns the order that shows the keys of a section as they are given. Only those up to the last that is not where it naturally is are named. */
export function orderWith(order: readonly string[], keys: readonly string[]): readonly string[] {
  const usual = keys.toSorted(natural);
  const last = keys.findLastIndex((key, i) => key !== usual[i]);
  const own = new Set(keys);
  return [...order.filter((key) => !own.has(key)), ...keys.slice(0, last + 1)].slice(-ORDER_MAX);
}

/** Keys in sections of a person's own that an address holds. */
const MOVED_MAX = 100;

/** Puts a key into a section; its own one by its name needs no note. */
export function movedInto(moved: readonly MovedKey[], key: string, section: string): readonly MovedKey[] {
  const others = moved.filter(([one]) => one !== key);
  return section === ownSection(key) ? others : [...others, [key, section] as const].slice(-MOVED_MAX);
}

/** Returns the name of a section as a person may type it. Names have no slash, which tells them from the ids of other sections. */
export const sectionNameOf = (text: string): string => text.replaceAll("/", " ").trim();

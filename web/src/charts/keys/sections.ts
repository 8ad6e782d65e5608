import { once } from "../../ui/once.ts";

/** Keys that begin with the same word before a slash. */
type Section = { readonly name: string; readonly keys: readonly string[] };

/** What models are judged by comes first, in this order. */
const FIRST = [["val", "valid", "validation"], ["eval", "evaluation"], ["test"], ["train", "training"]];

/** Keys of machines are last: people look for their own measurements. */
const LAST = ["system", "gpu", "cpu", "memory", "network", "disk"];

/** The place of a section among all: keys without a slash come right after those of training. */
function rankOf(name: string): number {
  const word = name.toLowerCase();
  const first = FIRST.findIndex((words) => words.includes(word));
  if (first >= 0) return first;
  if (name === "") return FIRST.length;
  return FIRST.length + (LAST.includes(word) ? 2 : 1);
}

/** Returns which of these sections are open at first: one after another, until the limit of charts is reached. `counts` has their numbers of charts. */
export function openAtFirst(counts: readonly number[], charts: number): readonly boolean[] {
  let shown = 0;
  return counts.map((count) => {
    const isOpen = shown < charts;
    shown += count;
    return isOpen;
  });
}

/** A key that a person put into another section. */
export type MovedKey = readonly [key: string, section: string];

/** Returns the section of a key by its name: the part before its first slash; empty without one. */
export const ownSection = (key: string): string => key.slice(0, Math.max(0, key.indexOf("/")));

/**
 * Groups keys by the part before their first slash, or as a person moved them: validation, evaluation, test and training first, machines last. Keys keep a
 * natural order.
 */
export function sectionsOf(keys: readonly string[], moved: readonly MovedKey[] = []): Section[] {
  const byName = new Map<string, string[]>();
  const chosen = new Map(moved);
  for (const key of keys) {
    const name = chosen.get(key) ?? ownSection(key);
    const found = byName.get(name);
    if (found === undefined) byName.set(name, [key]);
    else found.push(key);
  }
  return [...byName]
    .map(([name, own]) => ({ name, keys: own.toSorted(natural) }))
    .toSorted((a, b) => rankOf(a.name) - rankOf(b.name) || natural(a.name, b.name));
}

const collator = once(() => new Intl.Collator("en", { numeric: true }));

/** Compares texts so that `layer/2` comes before `layer/10`. */
export function natural(a: string, b: string): number {
  return collator().compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** A part of keys between slashes: what is below it, and the key that ends here, if there is one. */
export type KeyNode = {
  readonly name: string;
  readonly key: string | undefined;
  /** How many keys end here or below. */
  readonly count: number;
  readonly children: readonly KeyNode[];
};

type Growing = { name: string; key: string | undefined; children: Map<string, Growing> };

/** Builds the tree of keys by their parts between slashes. */
export function keyTree(keys: readonly string[]): readonly KeyNode[] {
  const root: Growing = { name: "", key: undefined, children: new Map() };
  for (const key of keys) {
    let node = root;
    for (const part of key.split("/")) {
      let next = node.children.get(part);
      if (next === undefined) {
        next = { name: part, key: undefined, children: new Map() };
        node.children.set(part, next);
      }
      node = next;
    }
    node.key = key;
  }
  const grown = (node: Growing): KeyNode => {
    const children = [...node.children.values()].map(grown).toSorted((a, b) => natural(a.name, b.name));
    const count = children.reduce((sum, child) => sum + child.count, node.key === undefined ? 0 : 1);
    return { name: node.name, key: node.key, count, children };
  };
  return grown(root).children;
}

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
  if (NESTED.test(source)) return { ...all, fault: "A pattern cannot repeat a group that repeats, such as (a+)+." };
  try {
    const pattern = new RegExp(source, "u");
    return { test: (key) => pattern.test(key), fault: undefined };
  } catch {
    // A half-typed expression is shown as one.
    return { ...all, fault: "This is not a valid regular expression." };
  }
}

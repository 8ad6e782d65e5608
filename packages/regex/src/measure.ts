import type { Node } from "./tree.ts";

/** What writing out a tree would give: single characters, and counted runs. */
export type Measure = { readonly characters: number; readonly counters: number };

/** Measures a tree whose runs of `countFrom` characters or more are counted, without writing it out. */
export function createMeasure(countFrom: number): (node: Node) => Measure {
  const known = new Map<Node, Measure>();
  const measure = (node: Node): Measure => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const result = fresh(node);
    known.set(node, result);
    return result;
  };
  function fresh(node: Node): Measure {
    if (node.kind === "run") {
      return node.size < countFrom ? { characters: node.size, counters: 0 } : { characters: 0, counters: 1 };
    }
    if ("body" in node) {
      const { characters, counters } = measure(node.body);
      const times = "times" in node ? node.times : 1;
      return { characters: characters * times, counters: counters * times };
    }
    let [characters, counters] = [0, 0];
    for (const part of "parts" in node ? node.parts : []) {
      const own = measure(part);
      characters += own.characters;
      counters += own.counters;
    }
    return { characters, counters };
  }
  return measure;
}

/** The lengths of a tree's runs, each once, the longest first. */
export function runLengths(root: Node): number[] {
  const lengths = new Set<number>();
  const seen = new Set<Node>([root]);
  for (const node of seen) {
    if (node.kind === "run") lengths.add(node.size);
    if ("body" in node) seen.add(node.body);
    if ("parts" in node) for (const part of node.parts) seen.add(part);
  }
  return [...lengths].sort((a, b) => b - a);
}

import type { JsonObject, JsonValue } from "../items.ts";
import { isObject, JSON_DEPTH_MAX, jsonObject } from "../json.ts";
import type { Warnings } from "../warnings.ts";
import type { KeyedItem } from "./records.ts";

/** Values at paths of keys, which newer files write leaf by leaf. */
export type KeyedTree = Map<string, JsonValue | KeyedTree>;

/** Most keys of a tree. */
export const TREE_KEYS_MAX = 100_000;

/** Sets or removes values. Values that are nested too deep, or exceed the number of keys, are counted and left out. */
export function applyItems(tree: KeyedTree, items: readonly KeyedItem[], warnings: Warnings): void {
  for (const { path, value } of items) {
    const isNew = !tree.has(path[0]!);
    if (path.length > JSON_DEPTH_MAX || (isNew && tree.size >= TREE_KEYS_MAX)) {
      warnings.add("too_large", `${path[0]}: too many keys, or nested too deep`);
      continue;
    }
    let node = tree;
    for (const key of path.slice(0, -1)) node = childOf(node, key);
    const last = path.at(-1)!;
    if (value === undefined) node.delete(last);
    else node.set(last, value);
  }
}

function childOf(node: KeyedTree, key: string): KeyedTree {
  const known = node.get(key);
  if (known instanceof Map) return known;
  const child: KeyedTree = new Map(isObject(known) ? Object.entries(known) : []);
  node.set(key, child);
  return child;
}

/** Returns a tree as an object of JSON. */
export function treeObject(tree: KeyedTree): JsonObject {
  return jsonObject(
    Array.from(tree, ([key, value]) => [key, value instanceof Map ? treeObject(value) : value] as const),
  );
}

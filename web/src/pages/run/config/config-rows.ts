import { isGroup, isShortList, valueText, type ExactValue } from "../../../api/exact-value.ts";

/** A line of the tree: a group, which has `size` members, or a value. `path` has the names from the root on. */
export type ConfigRow = {
  readonly path: readonly string[];
  readonly name: string;
  readonly depth: number;
  readonly type: "group" | "list" | "text" | "number" | "boolean" | "null";
  readonly value: ExactValue;
  /** Members of a group or list. */
  readonly size: number;
  /** Where it was logged as an attribute and not as part of the run's own configuration. */
  readonly fromAttribute: boolean;
};

/** Levels that are walked; deeper values are one line of JSON. */
const DEPTH_MAX = 12;

/** Makes one tree of a run's configuration and of attributes logged as `config/…`, which do not replace existing values. */
export function mergeConfig(
  config: { readonly [key: string]: ExactValue },
  attributes: readonly { readonly path: string; readonly value: ExactValue }[],
): { readonly tree: { readonly [key: string]: ExactValue }; readonly added: ReadonlySet<string> } {
  const own = new Set(Object.keys(config));
  const tree = new Map<string, ExactValue>(Object.entries(config));
  const added = new Set<string>();
  for (const { path, value } of attributes) {
    const name = path.startsWith("config/") ? path.slice("config/".length) : path;
    if (name === "" || own.has(name)) continue;
    // The newest row of a path counts.
    tree.set(name, value);
    added.add(name);
  }
  return { tree: Object.fromEntries(tree), added };
}

/**
 * Flattens a tree into lines, groups before their members, in the order of the names. Closed groups (by their path as JSON) hide their
 * members; with a search text, only lines whose path or value has it stay, with the groups above them.
 */
export function configRows(
  tree: { readonly [key: string]: ExactValue },
  options: {
    readonly search?: string;
    readonly closed?: ReadonlySet<string>;
    readonly added?: ReadonlySet<string>;
  } = {},
): readonly ConfigRow[] {
  const { search = "", closed = new Set(), added = new Set() } = options;
  const wanted = search.trim().toLowerCase();
  const rows: ConfigRow[] = [];
  const walk = (
    members: readonly (readonly [string, ExactValue])[],
    above: readonly string[],
    depth: number,
  ): boolean => {
    let found = false;
    for (const [name, value] of members) {
      const path = [...above, name];
      const row = rowOf(path, value, depth, added.has(path[0]!));
      const at = rows.push(row);
      const isOpen = wanted !== "" || !closed.has(JSON.stringify(path));
      const below = isOpen && depth < DEPTH_MAX ? walk(membersOf(row), path, depth + 1) : false;
      if (wanted === "" || below || matches(row, wanted)) found = true;
      else rows.length = at - 1;
    }
    return found;
  };
  walk(sorted(tree), [], 0);
  return rows;
}

const sorted = (group: { readonly [key: string]: ExactValue }): readonly (readonly [string, ExactValue])[] =>
  Object.entries(group).toSorted(([a], [b]) => (a < b ? -1 : 1));

function membersOf({ type, value }: ConfigRow): readonly (readonly [string, ExactValue])[] {
  if (type === "group" && isGroup(value)) return sorted(value);
  if (type !== "list" || !Array.isArray(value) || isShortList(value)) return [];
  return value.map((member: ExactValue, i) => [String(i), member] as const);
}

/** Whether a line has lines below it. */
export function isBranch(row: ConfigRow): boolean {
  return row.size > 0 && (row.type === "group" || (Array.isArray(row.value) && !isShortList(row.value)));
}

function matches(row: ConfigRow, wanted: string): boolean {
  if (row.path.join(".").toLowerCase().includes(wanted)) return true;
  return !isBranch(row) && valueText(row.value).toLowerCase().includes(wanted);
}

function rowOf(path: readonly string[], value: ExactValue, depth: number, fromAttribute: boolean): ConfigRow {
  const row = { path, name: path.at(-1)!, depth, value, fromAttribute };
  if (value === null) return { ...row, type: "null", size: 0 };
  if (Array.isArray(value)) return { ...row, type: "list", size: value.length };
  if (typeof value === "object") return { ...row, type: "group", size: Object.keys(value).length };
  if (typeof value === "boolean") return { ...row, type: "boolean", size: 0 };
  return { ...row, type: typeof value === "string" ? "text" : "number", size: 0 };
}

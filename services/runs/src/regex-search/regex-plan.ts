import type { Literals } from "@tidemark/regex";
import type { ResolvedTree } from "../search/tree.rules.ts";
import { searchCondition, type Bind, type IndexedText, type PlainTree } from "../search/search-condition.sql.ts";

/** A text that an expression is searched in; of `tags` each by itself. */
export type RegexColumn = IndexedText | "name" | "tags";

/** One expression in one text. */
export type RegexLeaf = { readonly kind: "regex"; readonly regex: number; readonly column: RegexColumn };

/** What has to be looked at in each candidate: `known` are the conditions that SQL has answered. */
export type CheckTree =
  | RegexLeaf
  | { readonly kind: "known"; readonly index: number }
  | { readonly kind: "not"; readonly node: CheckTree }
  | { readonly kind: "and" | "or"; readonly nodes: readonly CheckTree[] };

/** How the candidates of a search are looked at: SQL has answered some conditions, expressions decide the rest. */
export type CheckPlan = {
  /** Conditions whose answers the check needs. */
  readonly known: readonly string[];
  readonly columns: readonly RegexColumn[];
  readonly check: CheckTree;
};

/** Plans the check of the runs that `possibleRuns` leaves. */
export function planCheck(tree: ResolvedTree<RegexLeaf>, bind: Bind): CheckPlan {
  const known: string[] = [];
  const columns = new Set<RegexColumn>();
  const check = (node: ResolvedTree<RegexLeaf>): CheckTree => {
    if (node.kind === "regex") {
      columns.add(node.column);
      return node;
    }
    if (isPlain(node)) return { kind: "known", index: known.push(searchCondition(node, bind)) - 1 };
    return node.kind === "not"
      ? { kind: "not", node: check(node.node) }
      : { kind: node.kind, nodes: node.nodes.map(check) };
  };
  // What SQL alone demands of every run it has demanded already.
  const open = tree.kind === "and" ? { ...tree, nodes: tree.nodes.filter((node) => !isPlain(node)) } : tree;
  return { check: check(open), known, columns: [...columns] };
}

type Mixed = Extract<ResolvedTree<RegexLeaf>, { kind: "not" | "and" | "or" }>;

function isPlain(tree: ResolvedTree<RegexLeaf>): tree is PlainTree & Exclude<ResolvedTree<RegexLeaf>, RegexLeaf> {
  if (tree.kind === "regex") return false;
  if (tree.kind === "not") return isPlain(tree.node);
  return tree.kind === "and" || tree.kind === "or" ? tree.nodes.every(isPlain) : true;
}

/** A search that SQL can do and that finds every run that `tree` may find; `literals` are those of each expression. */
export function possibleRuns(tree: ResolvedTree<RegexLeaf>, literals: readonly Literals[]): PlainTree {
  if (tree.kind === "regex") return necessary(tree, literals[tree.regex] ?? { kind: "any" });
  if (isPlain(tree)) return tree;
  const mixed: Mixed = tree;
  if (mixed.kind === "not") return { kind: "not", node: certain(mixed.node, literals) };
  return { kind: mixed.kind, nodes: mixed.nodes.map((node) => possibleRuns(node, literals)) };
}

/** True only of runs of which the tree is true. */
function certain(tree: ResolvedTree<RegexLeaf>, literals: readonly Literals[]): PlainTree {
  if (tree.kind === "regex") return { kind: "or", nodes: [] };
  if (isPlain(tree)) return tree;
  const mixed: Mixed = tree;
  if (mixed.kind === "not") return { kind: "not", node: possibleRuns(mixed.node, literals) };
  return { kind: mixed.kind, nodes: mixed.nodes.map((node) => certain(node, literals)) };
}

const EVERYTHING: PlainTree = { kind: "and", nodes: [] };

/** What an expression demands of a text, unless the run is irregular. */
function necessary({ column }: RegexLeaf, literals: Literals): PlainTree {
  // A regular run has its name and all its tags in its summary.
  const indexed = column === "name" || column === "tags" ? "summary" : column;
  const demand = holds(indexed, literals);
  return demand === EVERYTHING ? EVERYTHING : { kind: "or", nodes: [demand, { kind: "irregular" }] };
}

function holds(column: IndexedText, literals: Literals): PlainTree {
  switch (literals.kind) {
    case "any":
      return EVERYTHING;
    case "literal":
      return { kind: "holds", column, text: literals.text };
    case "and":
    case "or": {
      const nodes = literals.parts.map((part) => holds(column, part));
      if (literals.kind === "or" && nodes.includes(EVERYTHING)) return EVERYTHING;
      const demands = nodes.filter((node) => node !== EVERYTHING);
      return demands.length === 0 ? EVERYTHING : { kind: literals.kind, nodes: demands };
    }
    default:
      throw new Error(`no literals of kind ${String(literals satisfies never)}`);
  }
}

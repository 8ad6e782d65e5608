import type { DisplayStatus } from "@tidemark/run-state";
import type { Filter, SearchField } from "@tidemark/values/run-search";

/** The field that a text term searches. */
export type TextField = Exclude<RegexField, "tag" | "status">;

/** The field that a regular expression searches: each tag separately, the display status, or one of the texts. */
export type RegexField = Exclude<SearchField, "id">;

/**
 * The condition that a run must meet to be found (API specification, Run search). None of its texts contains NUL or half
 * of a surrogate pair, so that each can be sent to PostgreSQL.
 */
export type SearchTree =
  /** The field contains the text; its ASCII letters are lower case, as in the searched text. */
  | { readonly kind: "text"; readonly field: TextField; readonly text: string }
  /** One of the tags is exactly this one; ASCII letters are lower case. */
  | { readonly kind: "tag"; readonly tag: string }
  /** The run shows this status. */
  | { readonly kind: "status"; readonly status: DisplayStatus }
  /** The id starts with the prefix. ASCII letters are lower case; a prefix of no UUID is allowed and finds nothing. */
  | { readonly kind: "id"; readonly prefix: string }
  /** The pattern occurs in the field, in any case. The engine accepts the pattern, and empty text does not match it. */
  | { readonly kind: "regex"; readonly field: RegexField; readonly pattern: string }
  /** The value of a column passes the comparison with the operand. A run without a value is not found. */
  | ({ readonly kind: "filter" } & Filter)
  | { readonly kind: "not"; readonly node: SearchTree }
  /** Two nodes or more. */
  | { readonly kind: "and" | "or"; readonly nodes: readonly SearchTree[] };

/**
 * Finds no run, because no UUID starts like this. It replaces a text with NUL or half of a surrogate
 * pair, which no stored text contains. Refusing such a text would break the rule that a query that is
 * still being typed never fails.
 */
export const FINDS_NOTHING: SearchTree = { kind: "id", prefix: "nothing" };

/** The parts of a project that terms about projects use. */
export type ProjectName = {
  readonly id: string;
  /** Its ASCII letters are lower case. */
  readonly name: string;
};

/** A tree in which all terms that do not depend on a run are resolved; `Leaf` replaces regular expressions. */
export type ResolvedTree<Leaf> =
  | { readonly kind: "text"; readonly field: Exclude<TextField, "project">; readonly text: string }
  | Extract<SearchTree, { kind: "tag" | "status" | "id" | "filter" }>
  | { readonly kind: "projects"; readonly ids: readonly string[] }
  | { readonly kind: "not"; readonly node: ResolvedTree<Leaf> }
  /** Any number of nodes: an empty `and` is true, an empty `or` is false. */
  | { readonly kind: "and" | "or"; readonly nodes: readonly ResolvedTree<Leaf>[] }
  | Leaf;

type RegexTerm = Extract<SearchTree, { kind: "regex" }>;

/** Returns whether a tree has terms that can be resolved only with the names of the projects. */
export function needsProjectNames(tree: SearchTree): boolean {
  switch (tree.kind) {
    case "not":
      return needsProjectNames(tree.node);
    case "and":
    case "or":
      return tree.nodes.some(needsProjectNames);
    case "text":
    case "regex":
      return tree.field === "project";
    default:
      return false;
  }
}

/** Returns the tree with terms about projects replaced by the projects, and each expression by the result of `regex`. */
export function resolveTerms<Leaf>(
  tree: SearchTree,
  projects: readonly ProjectName[],
  regex: (term: RegexTerm) => ResolvedTree<Leaf>,
): ResolvedTree<Leaf> {
  switch (tree.kind) {
    case "not":
      return { kind: "not", node: resolveTerms(tree.node, projects, regex) };
    case "and":
    case "or":
      return { kind: tree.kind, nodes: tree.nodes.map((node) => resolveTerms(node, projects, regex)) };
    case "regex":
      return regex(tree);
    case "text": {
      const { field, text } = tree;
      if (field !== "project") return { kind: "text", field, text };
      return { kind: "projects", ids: projects.filter(({ name }) => name.includes(text)).map(({ id }) => id) };
    }
    default:
      return tree;
  }
}

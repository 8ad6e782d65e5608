import type { SearchTree, TextField } from "./tree.ts";

/** A project as terms about projects see it. */
export type ProjectName = {
  readonly id: string;
  /** Its ASCII letters are lower case. */
  readonly name: string;
};

/** A tree in which everything is settled that can be known before any run is looked at. */
export type SettledTree<Leaf> =
  | { readonly kind: "text"; readonly field: Exclude<TextField, "project">; readonly text: string }
  | Extract<SearchTree, { kind: "tag" | "status" | "id" }>
  | { readonly kind: "projects"; readonly ids: readonly string[] }
  | { readonly kind: "not"; readonly node: SettledTree<Leaf> }
  | { readonly kind: "and" | "or"; readonly nodes: readonly SettledTree<Leaf>[] }
  | Leaf;

/** What becomes of a regular expression. */
type RegexTerm = Extract<SearchTree, { kind: "regex" }>;

/** Tells whether a tree has terms that only the names of the projects can settle. */
export function asksForProjects(tree: SearchTree): boolean {
  switch (tree.kind) {
    case "not":
      return asksForProjects(tree.node);
    case "and":
    case "or":
      return tree.nodes.some(asksForProjects);
    case "text":
    case "regex":
      return tree.field === "project";
    default:
      return false;
  }
}

/** The tree with the terms about projects replaced by the projects, and each expression by what `regex` makes of it. */
export function settleTerms<Leaf>(
  tree: SearchTree,
  projects: readonly ProjectName[],
  regex: (term: RegexTerm) => SettledTree<Leaf>,
): SettledTree<Leaf> {
  switch (tree.kind) {
    case "not":
      return { kind: "not", node: settleTerms(tree.node, projects, regex) };
    case "and":
    case "or":
      return { kind: tree.kind, nodes: tree.nodes.map((node) => settleTerms(node, projects, regex)) };
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

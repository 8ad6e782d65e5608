import { columnName, type Operand } from "@tidemark/values/run-search";
import type { SearchTree } from "./tree.rules.ts";

/** A query and its nesting depth. */
export type SearchText = { readonly text: string; readonly depth: number };

/** Chooses between two spellings that mean the same. */
export type Whim = () => boolean;

/**
 * Writes a tree as a query, with parentheses where the structure needs them. `whim` chooses between
 * AND and nothing, NOT and `-`, `all:` and nothing, a word and a phrase.
 */
export function writeSearch(tree: SearchTree, whim: Whim): SearchText {
  switch (tree.kind) {
    case "and":
    case "or": {
      const parts = tree.nodes.map((node) =>
        needsParentheses(node, tree.kind) ? grouped(node, whim) : writeSearch(node, whim),
      );
      const between = () => (tree.kind === "or" ? " OR " : whim() ? " AND " : " ");
      const text = parts.map((part, i) => (i === 0 ? part.text : between() + part.text)).join("");
      return { text, depth: Math.max(...parts.map((part) => part.depth)) };
    }
    case "not": {
      const isList = tree.node.kind === "and" || tree.node.kind === "or";
      const inner = isList ? grouped(tree.node, whim) : writeSearch(tree.node, whim);
      const minus =
        /^(?:\(|re:\/|(?:name|project|notes|config|metadata|tags?|status|id|all):|(?:config|metrics|attributes)\.)/.test(
          inner.text,
        ) && whim();
      return { text: (minus ? "-" : "NOT ") + inner.text, depth: inner.depth + 1 };
    }
    default:
      return { text: writeTerm(tree, whim), depth: 0 };
  }
}

function needsParentheses(node: SearchTree, parent: "and" | "or"): boolean {
  return node.kind === "or" || (node.kind === "and" && parent === "and");
}

function grouped(node: SearchTree, whim: Whim): SearchText {
  const { text, depth } = writeSearch(node, whim);
  return { text: `(${text})`, depth: depth + 1 };
}

type Term = Exclude<SearchTree, { kind: "and" | "or" | "not" }>;

function operandText(operand: Operand): string {
  if (typeof operand === "object") return operand.digits;
  return typeof operand === "number" ? String(operand) : `"${operand.replace(/["\\]/g, String.raw`\$&`)}"`;
}

function writeTerm(term: Term, whim: Whim): string {
  if (term.kind === "filter") {
    const { operand } = term;
    return columnName(term.column) + term.comparison + operandText(operand);
  }
  const field = term.kind === "text" || term.kind === "regex" ? term.field : term.kind;
  const prefix = field === "all" && whim() ? "" : field === "tag" && whim() ? "tags:" : `${field}:`;
  if (term.kind === "regex") return `${prefix}re:/${escapeSlashes(term.pattern)}/`;
  const value = termText(term);
  if (/^[\p{L}\p{N}_%]+$/u.test(value) && !/^(?:AND|OR|NOT)$/.test(value) && whim()) return prefix + value;
  return `${prefix}"${value.replace(/["\\]/g, String.raw`\$&`)}"`;
}

function termText(term: Exclude<Term, { kind: "regex" | "filter" }>): string {
  if (term.kind === "text") return term.text;
  if (term.kind === "tag") return term.tag;
  return term.kind === "status" ? term.status : term.prefix;
}

/** Writes each slash as `\/`; escapes of the pattern stay unchanged. */
function escapeSlashes(pattern: string): string {
  return pattern.replace(/\\[^]|\//gu, (part) => (part === "/" ? String.raw`\/` : part));
}

import type { FilterToken, TermToken, Token } from "@tidemark/values/run-search";
import { DEPTH_MAX, searchFault } from "./words.rules.ts";

/** The structure of a query with its terms as they were written. Lists have two nodes or more. */
export type Syntax =
  | TermToken
  | FilterToken
  | { readonly kind: "not"; readonly node: Syntax }
  | { readonly kind: "and" | "or"; readonly nodes: readonly Syntax[] };

type Cursor = { readonly tokens: readonly Token[]; at: number };

/**
 * Parses the tokens of a complete query. NOT and `-` bind tighter than AND, AND tighter than OR; two
 * terms next to each other are joined by AND. Parentheses leave no node, but a list in them stays a list.
 * The depth of the query, checked here, also bounds the recursion.
 * @throws run_search_invalid at column 1 when the query is nested too deep
 */
export function parse(tokens: readonly Token[]): Syntax {
  return parseOr({ tokens, at: 0 }, 0);
}

function parseOr(cursor: Cursor, depth: number): Syntax {
  const nodes = [parseAnd(cursor, depth)];
  while (take(cursor, "or")) nodes.push(parseAnd(cursor, depth));
  return list("or", nodes);
}

function parseAnd(cursor: Cursor, depth: number): Syntax {
  const nodes = [parseOperand(cursor, depth)];
  while (take(cursor, "and") || operandFollows(cursor)) nodes.push(parseOperand(cursor, depth));
  return list("and", nodes);
}

function parseOperand(cursor: Cursor, depth: number): Syntax {
  if (take(cursor, "not")) return { kind: "not", node: parseOperand(cursor, deeper(depth)) };
  if (take(cursor, "open")) {
    const inner = parseOr(cursor, deeper(depth));
    take(cursor, "close");
    return inner;
  }
  const token = cursor.tokens[cursor.at];
  if (token?.kind !== "term" && token?.kind !== "filter") throw new Error("the query is incomplete");
  cursor.at += 1;
  return token;
}

/** Returns whether an operand starts here that can be joined without an operator. */
function operandFollows(cursor: Cursor): boolean {
  const kind = cursor.tokens[cursor.at]?.kind;
  return kind === "term" || kind === "filter" || kind === "open" || kind === "not";
}

function take(cursor: Cursor, kind: Token["kind"]): boolean {
  if (cursor.tokens[cursor.at]?.kind !== kind) return false;
  cursor.at += 1;
  return true;
}

function deeper(depth: number): number {
  if (depth === DEPTH_MAX) throw searchFault(`nested deeper than ${DEPTH_MAX} levels`, 1);
  return depth + 1;
}

function list(kind: "and" | "or", nodes: readonly Syntax[]): Syntax {
  const [first] = nodes;
  return nodes.length === 1 && first !== undefined ? first : { kind, nodes };
}

import { DEPTH_MAX, ID_BYTES_MIN, searchFault } from "./words.rules.ts";
import type { FilterToken, TermToken, Token } from "./tokenize.rules.ts";

/**
 * Returns whether a query is complete: every operator has its operands, every parenthesis its partner and
 * something inside, every `id:` at least 4 bytes. An incomplete query is one that is still being typed;
 * it is searched as literal text, even if it is also invalid.
 */
export function isComplete(tokens: readonly Token[]): boolean {
  let open = 0;
  let operandDue = true;
  for (const token of tokens) {
    switch (token.kind) {
      case "term":
        if (isShortId(token)) return false;
        operandDue = false;
        break;
      case "filter":
        operandDue = false;
        break;
      case "open":
        open += 1;
        operandDue = true;
        break;
      case "close":
        if (operandDue || open === 0) return false;
        open -= 1;
        break;
      case "and":
      case "or":
        if (operandDue) return false;
        operandDue = true;
        break;
      case "not":
        operandDue = true;
        break;
    }
  }
  return open === 0 && !operandDue;
}

function isShortId({ field, form, value }: TermToken): boolean {
  return field === "id" && form !== "regex" && Buffer.byteLength(value, "utf8") < ID_BYTES_MIN;
}

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

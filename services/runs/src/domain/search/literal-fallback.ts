import { literal } from "./literal.ts";
import type { SearchTree } from "./tree.ts";
import { splitOnWhiteSpace } from "./white-space.ts";

/**
 * How a query is read that is incomplete, because someone is still typing it: every piece between
 * white space, operators and punctuation included, is a text that must occur somewhere. `text` is
 * trimmed and not empty. The number of pieces is bounded by the length of the query alone: 256.
 */
export function literalFallback(text: string): SearchTree {
  const [first = "", ...others] = splitOnWhiteSpace(text);
  const node = literal("all", first);
  return others.length === 0 ? node : { kind: "and", nodes: [node, ...others.map((piece) => literal("all", piece))] };
}

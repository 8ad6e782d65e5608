import { concat, either, empty, run, type Node } from "./tree.ts";

/** The part of a node that a search must see when whatever comes before (`"left"`) or after it may be left out. */
function trimEdge(node: Node, edge: "left" | "right"): Node {
  if (node.nullable) return empty;
  switch (node.kind) {
    case "run":
      return run(node.set, node.min, node.min);
    case "plus":
      return trimEdge(node.body, edge);
    case "either":
      return either(node.parts.map((part) => trimEdge(part, edge)));
    case "concat": {
      const step = edge === "left" ? 1 : -1;
      const last = edge === "left" ? node.parts.length - 1 : 0;
      let at = edge === "left" ? 0 : node.parts.length - 1;
      // Some part is not nullable, since the whole is not.
      while (node.parts[at]!.nullable && at !== last) at += step;
      const kept = edge === "left" ? node.parts.slice(at) : node.parts.slice(0, at + 1);
      const trimmed = kept.map((part, i) => (i === (edge === "left" ? 0 : at) ? trimEdge(part, edge) : part));
      return concat(trimmed);
    }
    default:
      return node;
  }
}

/**
 * The shortest pattern that is found in exactly the same texts, for a search that may begin and end anywhere: an edge
 * repeats no more than it must (`.*foo[0-9]+` becomes `foo[0-9]`). What is optional at an edge only multiplies states.
 */
export function trim(node: Node): Node {
  return trimEdge(trimEdge(node, "left"), "right");
}

import { concat, either, empty, hasBefore, partsOf, run, type Node } from "./tree.ts";

/** Whether a row of parts is the node one or more times. */
function isRepeated(parts: readonly Node[], node: Node): boolean {
  const { length } = partsOf(node);
  for (let end = parts.length; end > 0; end -= length) if (!hasBefore(parts, end, node)) return false;
  return parts.length > 0;
}

function trimLeft(parts: readonly Node[]): Node {
  // Some part is not nullable, since the whole is not.
  const kept = parts.slice(parts.findIndex((part) => !part.nullable));
  const more = kept.findIndex((part) => part.kind === "atMost");
  const again = kept[more];
  // Where the body stands already, what is up to some times the body again is no more needed than at the edge itself.
  if (again?.kind === "atMost" && isRepeated(kept.slice(0, more), again.body)) kept.splice(more, 1);
  return concat([trimEdge(kept[0]!, "left"), ...kept.slice(1)]);
}

function trimRight(parts: readonly Node[]): Node {
  const last = parts.findLastIndex((part) => !part.nullable);
  return concat([...parts.slice(0, last), trimEdge(parts[last]!, "right")]);
}

/** The part of a node that a search must see when whatever comes before (`"left"`) or after it may be left out. */
function trimEdge(node: Node, edge: "left" | "right"): Node {
  if (node.nullable) return empty;
  switch (node.kind) {
    case "run":
      return run(node.set, node.min, node.min);
    case "plus":
      return trimEdge(node.body, edge);
    case "atLeast":
      return trimEdge(concat(Array.from({ length: node.times }, () => node.body)), edge);
    case "either":
      return either(node.parts.map((part) => trimEdge(part, edge)));
    case "concat":
      return edge === "left" ? trimLeft(node.parts) : trimRight(node.parts);
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

import type { RuneSet } from "./rune-set.ts";

/**
 * What the two sides of a position must be for an assertion to hold, as bits. `^` and `$` without `(?m)` are the ends of
 * the text; with it they are the ends of a line. Words are ASCII letters, digits and `_`, as in RE2.
 */
export const assertion = {
  lineBegin: 1,
  lineEnd: 2,
  textBegin: 4,
  textEnd: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

/** Common to all nodes: whether it matches the empty text everywhere, and how many characters it has when written out in full. */
type Measures = { readonly nullable: boolean; readonly size: number };

/**
 * A regular expression reduced to what a boolean answer needs: no captures, no greediness. A `run` is `min` to `max`
 * (possibly `Infinity`) characters of one set, so a counted repetition of a single character stays one node however
 * high its count. Parts may be shared between places of the tree.
 */
export type Node = Measures &
  (
    | { readonly kind: "empty" | "never" }
    | { readonly kind: "run"; readonly set: RuneSet; readonly min: number; readonly max: number }
    | { readonly kind: "assert"; readonly flag: number }
    | { readonly kind: "concat" | "either"; readonly parts: readonly Node[] }
    | { readonly kind: "plus" | "maybe"; readonly body: Node }
  );

export const empty: Node = { kind: "empty", nullable: true, size: 0 };
/** Matches nothing, such as a class without members. */
export const never: Node = { kind: "never", nullable: false, size: 0 };

/** `min` to `max` characters of `set`; `max` is at least 1. */
export function run(set: RuneSet, min: number, max: number): Node {
  return { kind: "run", set, min, max, nullable: min === 0, size: max === Infinity ? Math.max(min, 1) : max };
}

export function assert(flag: number): Node {
  return { kind: "assert", flag, nullable: false, size: 0 };
}

/**
 * One after the other. Neighbouring runs of one set become one run, and of equal assertions at one place one remains:
 * these are the same language.
 */
export function concat(given: Iterable<Node>): Node {
  const parts: Node[] = [];
  let [nullable, size] = [true, 0];
  /** Assertions since the last part that was none. */
  let asserted = 0;
  for (const node of given) {
    if (node.kind === "never") return never;
    for (const part of node.kind === "concat" ? node.parts : [node]) {
      const last = parts.at(-1);
      if (part.kind === "empty" || (part.kind === "assert" && (asserted & part.flag) !== 0)) continue;
      asserted = part.kind === "assert" ? asserted | part.flag : 0;
      if (part.kind === "run" && last?.kind === "run" && last.set === part.set) {
        const both = run(part.set, last.min + part.min, last.max + part.max);
        size += both.size - last.size;
        parts[parts.length - 1] = both;
      } else {
        parts.push(part);
        size += part.size;
      }
      nullable &&= part.nullable;
    }
  }
  return parts.length === 0 ? empty : parts.length === 1 ? parts[0]! : { kind: "concat", parts, nullable, size };
}

/** Any one of the branches. An empty branch makes the rest optional. */
export function either(given: Iterable<Node>): Node {
  const parts: Node[] = [];
  let [optional, nullable, size] = [false, false, 0];
  for (const node of given) {
    if (node.kind === "empty") optional = true;
    if (node.kind === "empty" || node.kind === "never") continue;
    parts.push(node);
    nullable ||= node.nullable;
    size += node.size;
  }
  const any: Node =
    parts.length === 0 ? never : parts.length === 1 ? parts[0]! : { kind: "either", parts, nullable, size };
  return optional ? maybe(any) : any;
}

/** Once or not at all. */
export function maybe(body: Node): Node {
  // An optional assertion asserts nothing.
  if (body.kind === "never" || body.kind === "assert") return empty;
  if (body.kind === "run" && body.min <= 1) return run(body.set, 0, body.max);
  return body.nullable ? body : { kind: "maybe", body, nullable: true, size: body.size };
}

/** Once or more. */
export function plus(body: Node): Node {
  if (body.kind === "empty" || body.kind === "never" || body.kind === "assert" || body.kind === "plus") return body;
  if (body.kind === "run" && body.min <= 1) return run(body.set, body.min, Infinity);
  if (body.kind === "maybe") return maybe(plus(body.body));
  return { kind: "plus", body, nullable: body.nullable, size: body.size };
}

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
    | { readonly kind: "plus"; readonly body: Node }
    | { readonly kind: "maybe"; readonly body: Node }
    /** Up to `times` times, 2 or more; or so many times and more. The body has more than one character. */
    | { readonly kind: "atMost"; readonly body: Node; readonly times: number }
    | { readonly kind: "atLeast"; readonly body: Node; readonly times: number }
  );

/** Matches the empty text. */
export const empty: Node = { kind: "empty", nullable: true, size: 0 };
/** Matches nothing, such as a class without members. */
export const never: Node = { kind: "never", nullable: false, size: 0 };

/** `min` to `max` characters of `set`; `max` is at least 1. */
export function run(set: RuneSet, min: number, max: number): Node {
  return { kind: "run", set, min, max, nullable: min === 0, size: max === Infinity ? Math.max(min, 1) : max };
}

/** Holds or not, by what stands on both sides. */
export function assert(flag: number): Node {
  return { kind: "assert", flag, nullable: false, size: 0 };
}

/** What a node adds to a row of parts. */
export function partsOf(node: Node): readonly Node[] {
  return node.kind === "concat" ? node.parts : [node];
}

/** Whether two nodes are one, or the same run or assertion. */
function isSame(one: Node, other: Node): boolean {
  if (one === other) return true;
  if (one.kind === "assert" && other.kind === "assert") return one.flag === other.flag;
  if (one.kind !== "run" || other.kind !== "run") return false;
  return one.set === other.set && one.min === other.min && one.max === other.max;
}

/** Whether a row of parts has those of `node` right before the place `end`. */
export function hasBefore(parts: readonly Node[], end: number, node: Node): boolean {
  const own = partsOf(node);
  return own.length <= end && own.every((part, i) => isSame(part, parts[end - own.length + i]!));
}

/**
 * One after the other. Neighbouring runs of one set become one run, copies before a loop of the same become part of it,
 * and of equal assertions at one place one remains: these are the same language.
 */
export function concat(given: Iterable<Node>): Node {
  const parts: Node[] = [];
  /** Assertions since the last part that was none. */
  let asserted = 0;
  for (const node of given) {
    if (node.kind === "never") return never;
    for (const part of partsOf(node)) {
      const last = parts.at(-1);
      if (part.kind === "empty" || (part.kind === "assert" && (asserted & part.flag) !== 0)) continue;
      asserted = part.kind === "assert" ? asserted | part.flag : 0;
      if (part.kind === "run" && last?.kind === "run" && last.set === part.set) {
        parts[parts.length - 1] = run(part.set, last.min + part.min, last.max + part.max);
      } else if (part.kind === "plus" || part.kind === "atLeast") {
        let times = part.kind === "plus" ? 1 : part.times;
        for (; hasBefore(parts, parts.length, part.body); times++) parts.length -= partsOf(part.body).length;
        parts.push(times === 1 ? part : atLeast(part.body, times));
      } else {
        parts.push(part);
      }
    }
  }
  if (parts.length < 2) return parts[0] ?? empty;
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  return { kind: "concat", parts, nullable: parts.every((part) => part.nullable), size };
}

function atLeast(body: Node, times: number): Node {
  return { kind: "atLeast", body, times, nullable: body.nullable, size: body.size * times };
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
  if (body.nullable) return body;
  if (body.kind === "concat") {
    // The body, and then perhaps the body again: so far up to some times.
    const before = body.parts.length - 1;
    const last = body.parts[before]!;
    if (last.kind === "maybe" || last.kind === "atMost") {
      if (partsOf(last.body).length === before && hasBefore(body.parts, before, last.body)) {
        const times = last.kind === "maybe" ? 2 : last.times + 1;
        return { kind: "atMost", body: last.body, times, nullable: true, size: last.body.size * times };
      }
    }
  }
  return { kind: "maybe", body, nullable: true, size: body.size };
}

/** Once or more. */
export function plus(body: Node): Node {
  if (body.kind === "empty" || body.kind === "never" || body.kind === "assert" || body.kind === "plus") return body;
  if (body.kind === "run" && body.min <= 1) return run(body.set, body.min, Infinity);
  if (body.kind === "maybe" || body.kind === "atMost") return maybe(plus(body.body));
  return { kind: "plus", body, nullable: body.nullable, size: body.size };
}

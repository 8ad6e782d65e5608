import type { RuneSet } from "./rune-set.ts";
import type { Node } from "./tree.ts";

type Run = Extract<Node, { kind: "run" }>;

/**
 * One step of a {@link Program}, numbered by its place. `chars` and `count` consume characters, the others are passed
 * without one. `count` consumes `min` to `max` characters of its set, where `chars` consumes one.
 */
export type Step =
  | { readonly kind: "chars"; readonly set: RuneSet; readonly out: number }
  | { readonly kind: "count"; readonly set: RuneSet; readonly min: number; readonly max: number; readonly out: number }
  | { readonly kind: "split"; readonly out: number; other: number }
  | { readonly kind: "assert"; readonly flag: number; readonly out: number }
  | { readonly kind: "match" | "fail" };

/** A nondeterministic automaton in Thompson's form: the steps, last first, and where to begin. */
export type Program = { readonly steps: readonly Step[]; readonly start: number };

/** How a tree is written out. */
export type ProgramOptions = {
  /** Runs of at least this many characters, 3 or more, become `count` steps; `Infinity` writes everything out. */
  readonly countFrom: number;
  /** Leaves the first and the last character of a counted run outside the count, where assertions may look at them. */
  readonly bareEdges: boolean;
};

/** Writes out a tree from its end to its beginning, so that every step knows what follows it. */
export function createProgram(root: Node, options: ProgramOptions): Program {
  const steps: Step[] = [{ kind: "match" }, { kind: "fail" }];
  const add = (step: Step): number => steps.push(step) - 1;

  /** A way in to what `body` adds before the loop, from where the loop is entered again. */
  function loop(body: (back: number) => number, out: number): { first: number; again: number } {
    const split = { kind: "split", out, other: 0 } satisfies Step;
    const again = add(split);
    split.other = body(again);
    return { first: split.other, again };
  }

  function chars(set: RuneSet, count: number, out: number): number {
    let to = out;
    for (let i = 0; i < count; i++) to = add({ kind: "chars", set, out: to });
    return to;
  }

  /** `min` to `max` characters one by one; where they may end, they all go on to the same step. */
  function writtenOut({ set, min, max }: Run, out: number): number {
    if (max === Infinity) {
      const { first, again } = loop((back) => chars(set, 1, back), out);
      return min === 0 ? again : chars(set, min - 1, first);
    }
    let to = out;
    for (let i = min; i < max; i++) to = add({ kind: "split", out, other: chars(set, 1, to) });
    return chars(set, min, to);
  }

  function counted(set: RuneSet, min: number, max: number, out: number): number {
    const step = add({ kind: "count", set, min: Math.max(min, 1), max, out });
    return min === 0 ? add({ kind: "split", out, other: step }) : step;
  }

  /** The same language as `counted`, with the count strictly between two single characters. `max` is at least 3. */
  function countedInside(set: RuneSet, min: number, max: number, out: number): number {
    const last = chars(set, 1, out);
    const inside = counted(set, Math.max(min - 2, 0), max - 2, last);
    const first = chars(set, 1, min < 2 ? add({ kind: "split", out, other: inside }) : inside);
    return min === 0 ? add({ kind: "split", out, other: first }) : first;
  }

  /** Adds a node before the step `out`; returns where it begins. */
  function write(node: Node, out: number): number {
    switch (node.kind) {
      case "empty":
        return out;
      case "never":
        return 1;
      case "run":
        if (node.size < options.countFrom) return writtenOut(node, out);
        return (options.bareEdges ? countedInside : counted)(node.set, node.min, node.max, out);
      case "assert":
        return add({ kind: "assert", flag: node.flag, out });
      case "concat":
        return node.parts.reduceRight((to, part) => write(part, to), out);
      case "either":
        return node.parts
          .slice(0, -1)
          .reduceRight(
            (other, part) => add({ kind: "split", out: write(part, out), other }),
            write(node.parts.at(-1)!, out),
          );
      case "plus":
        return loop((back) => write(node.body, back), out).first;
      case "maybe":
        return add({ kind: "split", out, other: write(node.body, out) });
    }
  }

  return { start: write(root, 0), steps };
}

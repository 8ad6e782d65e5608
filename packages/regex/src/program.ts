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
export type Program = {
  readonly steps: readonly Step[];
  readonly start: number;
  /**
   * Rows of steps that stand for the same character of copies of one part. Whatever can follow a step of a row can also
   * follow those before it, so a step is of no account while one before it is live.
   */
  readonly rows: readonly (readonly number[])[];
};

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
  const rows: number[][] = [];
  const add = (step: Step): number => steps.push(step) - 1;

  /** Notes the rows of copies of `size` steps each, the strongest first. */
  function align(begins: readonly number[], size: number): void {
    for (let i = 0; i < size; i++) {
      if (steps[begins[0]! + i]!.kind === "chars") rows.push(begins.map((begin) => begin + i));
    }
  }

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
      if (min === 0) return again;
      const begin = chars(set, min - 1, first);
      // The more have been read, the fewer are missing.
      rows.push([first, ...Array.from({ length: min - 1 }, (_, i) => first + 1 + i)]);
      return begin;
    }
    let to = out;
    const optional: number[] = [];
    for (let i = min; i < max; i++) {
      const step = chars(set, 1, to);
      optional.unshift(step);
      to = add({ kind: "split", out, other: step });
    }
    const begin = chars(set, min, to);
    // Once it may end, the fewer have been read, the more can come.
    if (optional.length > 0) rows.push(min === 0 ? optional : [to + 1, ...optional]);
    return begin;
  }

  /** Copies of a part that may end after each. */
  function upTo(body: Node, times: number, out: number): number {
    const begins: number[] = [];
    let to = out;
    for (let i = 0; i < times; i++) {
      begins.unshift(steps.length);
      to = add({ kind: "split", out, other: write(body, to) });
    }
    align(begins, steps.length - 1 - begins[0]!);
    return to;
  }

  /** Copies of a part, and a loop of the last. */
  function noFewer(body: Node, times: number, out: number): number {
    const begins: number[] = [];
    const copy = (to: number): number => {
      begins.push(steps.length);
      return write(body, to);
    };
    let to = loop(copy, out).first;
    for (let i = 1; i < times; i++) to = copy(to);
    align(begins, steps.length - begins.at(-1)!);
    return to;
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
      case "atMost":
        return upTo(node.body, node.times, out);
      case "atLeast":
        return noFewer(node.body, node.times, out);
    }
  }

  return { start: write(root, 0), steps, rows };
}

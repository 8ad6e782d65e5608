import type { Kind } from "./alphabet.ts";
import type { Program } from "./program.ts";
import { assertion } from "./tree.ts";

/** Kinds of the character that comes next, as bits; 8 is the end of the text. */
export const kindBit = { word: 1, newline: 2, other: 4, end: 8 } as const;
const ANY_NEXT = 15;

/** What stands before a position: a character of this kind, or nothing. */
export type Previous = Kind | "begin";

/** The next characters before which an assertion holds, after `previous`. */
function holdsBefore(flag: number, previous: Previous): number {
  switch (flag) {
    case assertion.lineBegin:
      return previous === "begin" || previous === "newline" ? ANY_NEXT : 0;
    case assertion.textBegin:
      return previous === "begin" ? ANY_NEXT : 0;
    case assertion.lineEnd:
      return kindBit.newline | kindBit.end;
    case assertion.textEnd:
      return kindBit.end;
    case assertion.wordBoundary:
      return previous === "word" ? ANY_NEXT & ~kindBit.word : kindBit.word;
    default:
      return previous === "word" ? kindBit.word : ANY_NEXT & ~kindBit.word;
  }
}

/** Finds the steps that a program comes to without a character. Counts its own work. */
export type Closure = {
  /** Steps passed so far, over all calls: a measure of time. */
  visits(): number;
  /**
   * Calls `reach` for the consuming and matching steps that can be next from `start` on after `previous`, with the kinds
   * of next characters before which they can; more than once for a step, if by several ways.
   */
  from(start: number, previous: Previous, reach: (step: number, next: number) => void): void;
};

/** Makes the closures of one program. */
export function createClosure({ steps }: Program): Closure {
  /** Kinds with which a step was passed in the present call. */
  const passed = new Uint8Array(steps.length);
  const touched: number[] = [];
  /** Ways still to go: a step, times 16, and the kinds of next characters. */
  const open: number[] = [];
  let visited = 0;
  return {
    visits: () => visited,
    from(start, previous, reach) {
      open.push(start * 16 + ANY_NEXT);
      for (let way = open.pop(); way !== undefined; way = open.pop()) {
        const at = way >> 4;
        const next = way & 15 & ~passed[at]!;
        if (next === 0) continue;
        visited++;
        touched.push(at);
        passed[at]! |= next;
        const step = steps[at]!;
        if (step.kind === "split") open.push(step.other * 16 + next, step.out * 16 + next);
        else if (step.kind === "assert") open.push(step.out * 16 + (next & holdsBefore(step.flag, previous)));
        else if (step.kind !== "fail") reach(at, next);
      }
      for (const at of touched) passed[at] = 0;
      touched.length = 0;
    },
  };
}

/** Which steps lie before or after an assertion, with no character in between. By step, 1 where so. */
export type Sensitivity = { readonly beforeAssertion: Uint8Array; readonly afterAssertion: Uint8Array };

/** Finds the steps from which, and to which, the way without a character can lead through an assertion. */
export function findSensitivity({ steps }: Program): Sensitivity {
  const beforeAssertion = new Uint8Array(steps.length);
  const afterAssertion = new Uint8Array(steps.length);
  const backward: number[][] = steps.map(() => []);
  const [before, after]: [number[], number[]] = [[], []];
  steps.forEach((step, i) => {
    if (step.kind === "split" || step.kind === "assert") backward[step.out]!.push(i);
    if (step.kind === "split") backward[step.other]!.push(i);
    if (step.kind === "assert") {
      before.push(i);
      after.push(step.out);
    }
  });
  const spread = (marks: Uint8Array, open: number[], neighbours: (step: number) => readonly number[]) => {
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (marks[at] === 1) continue;
      marks[at] = 1;
      open.push(...neighbours(at));
    }
  };
  spread(beforeAssertion, before, (at) => backward[at]!);
  spread(afterAssertion, after, (at) => {
    const step = steps[at]!;
    return step.kind === "split" ? [step.out, step.other] : step.kind === "assert" ? [step.out] : [];
  });
  return { beforeAssertion, afterAssertion };
}

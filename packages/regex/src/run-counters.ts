import type { Counter } from "./automaton.ts";

/** Before any place of a text: no string has as many characters. */
const NEVER = -(2 ** 30);

/** One counted run. What it remembers of its beginnings is in the history that all share. */
type RunCounter = {
  readonly enter: number;
  readonly enterBit: number;
  readonly exit: number;
  /** Characters from a beginning until it is complete, and for how many more it stays so. */
  readonly delay: number;
  readonly span: number;
  /** Beginnings before this place have ended. */
  since: number;
  /** Where a beginning was last completed. */
  completed: number;
};

/**
 * The counted runs of an automaton. Which runs begin at a character is kept by place; a run is complete after a character
 * if it began the right number of characters before and all between belong to it. So a character costs a few operations
 * per run, whatever the counts are, where a position per character of the run would cost a bit each. (Kin to the queues
 * of counting sets: Turoňová and others, Regex Matching with Counting-Set Automata, 2020.)
 */
export type RunCounters = {
  readonly list: readonly RunCounter[];
  /** By place, modulo the length: the enter bits of the runs that begin there. */
  readonly history: Int32Array;
  /** By class, the enter bits of the runs to which its characters belong. */
  readonly members: Int32Array;
  /** The longest that a run can go on. */
  readonly longest: number;
  /** Where a run last began, if any may go on. */
  begun: number;
};

/** Makes the counters of an automaton over this many classes. */
export function createRunCounters(counters: readonly Counter[], classCount: number): RunCounters {
  const members = new Int32Array(classCount);
  for (const { enter, members: own } of counters) own.forEach((member, cls) => (members[cls]! |= enter * member));
  const list = counters.map(({ enter, exit, min, max }) => ({
    enter,
    enterBit: 31 - Math.clz32(enter),
    exit,
    delay: min - 1,
    span: Math.min(max - min, -NEVER - 1),
    since: 0,
    completed: NEVER,
  }));
  const delay = Math.max(0, ...list.map((counter) => counter.delay));
  const history = new Int32Array(2 ** Math.ceil(Math.log2(delay + 1)));
  return { list, members, history, longest: Math.max(0, ...counters.map(({ max }) => max)), begun: NEVER };
}

/** Forgets all beginnings before place `at`. */
export function resetRuns(runs: RunCounters, at: number): void {
  runs.begun = NEVER;
  for (const counter of runs.list) {
    counter.since = at;
    counter.completed = NEVER;
  }
}

/** Whether a run may go on after place `at`. */
export function mayRun({ begun, longest, list }: RunCounters, at: number): boolean {
  return at - begun < longest && list.some(({ since }) => since <= begun);
}

/**
 * Reads the character of class `cls` at place `at`, where the runs whose bits are in `entered` begin. Returns the exits
 * that are now live. Every place must be read from one where {@link resetRuns} was called on.
 */
export function readRuns(runs: RunCounters, cls: number, at: number, entered: number): number {
  const { list, history } = runs;
  const mask = history.length - 1;
  const members = runs.members[cls]!;
  // No branches on what random text makes random: a sign is the outcome of a comparison.
  history[at & mask] = entered;
  runs.begun += (at - runs.begun) & ((entered | -entered) >> 31);
  let exits = 0;
  for (let i = 0; i < list.length; i++) {
    const counter = list[i]!;
    if ((members & counter.enter) === 0) {
      counter.since = at + 1;
      counter.completed = NEVER;
      continue;
    }
    const begin = at - counter.delay;
    const due = (history[begin & mask]! >>> counter.enterBit) & ((counter.since - 1 - begin) >>> 31);
    const completed = counter.completed + ((at - counter.completed) & -due);
    counter.completed = completed;
    exits |= counter.exit & ((at - completed - counter.span - 1) >> 31);
  }
  return exits;
}

import type { Alphabet } from "./alphabet.ts";
import { createClosure, kindBit, type Previous } from "./closure.ts";
import { layOutPositions } from "./positions.ts";
import type { Program } from "./program.ts";

/**
 * A counted run of one class of characters. `enter` is live when the run's first character has just been read, `exit`
 * after every character that completes `min` to `max` of them. Both are bits of word 0; followers of `enter` are left to
 * whoever counts.
 */
export type Counter = {
  readonly enter: number;
  readonly exit: number;
  /** By class, 1 where its characters count. */
  readonly members: Uint8Array;
  readonly min: number;
  readonly max: number;
};

/**
 * A position automaton, without empty transitions (Glushkov): a position is live when the character just read can be the
 * one it stands for. A text is read class by class, the class `end` at last; after live positions D and class c the live
 * ones are `(restart | followers of D) & reach(c)`, sets being `words` words of 32 bits. It matches once a bit of
 * `accept`, in word 0, is live. Assertions are gone: positions tell apart what assertions look at.
 */
export type Automaton = {
  readonly size: number;
  readonly words: number;
  /** By position, where in `rows` the set of those begins that can follow it. */
  readonly rowOf: Int32Array;
  readonly rows: Int32Array;
  /** By class, `end` included, the set of positions that stand for it. */
  readonly reach: Int32Array;
  /** What may follow anywhere, since a match may begin anywhere. Empty in a pattern bound to the begin of the text. */
  readonly restart: Int32Array;
  /** What is live before the first character. */
  readonly start: Int32Array;
  readonly accept: number;
  readonly counters: readonly Counter[];
  /**
   * Rows of positions of which each can be followed by no more than those before it, so that it is of no account while one
   * of them is live.
   */
  readonly weaker: readonly (readonly number[])[];
  readonly matchesEmpty: boolean;
};

/** What an automaton may take to make: positions in all, and steps passed to find what follows each. */
export type AutomatonLimits = { readonly positions: number; readonly visits: number };

const previousCode: Readonly<Record<Previous, number>> = { word: 0, newline: 1, other: 2, begin: 3 };

const setBit = (set: Int32Array, offset: number, bit: number) => {
  set[offset + (bit >> 5)]! |= 1 << (bit & 31);
};

/** Makes the automaton of a program, or nothing when that goes beyond the limits. */
export function createAutomaton(program: Program, alphabet: Alphabet, limits: AutomatonLimits): Automaton | undefined {
  const positions = layOutPositions(program, alphabet);
  const { list, ofStep, sensitive } = positions;
  const size = list.length;
  // All special positions are in word 0, where those who run the automaton look for them.
  if (size > limits.positions || positions.specials > 32) return undefined;
  const words = (size + 31) >> 5;

  const rows = new Int32Array((size + 3) * words);
  const rowOffsets = new Map<number, number>();
  const closure = createClosure(program);
  let matchesEmpty = false;
  /** The set of positions that come next from a step on; offset of its row. */
  function followers(step: number, previous: Previous): number {
    const code = step * 4 + (sensitive[step] === 1 ? previousCode[previous] : 0);
    const known = rowOffsets.get(code);
    if (known !== undefined) return known;
    const row = (rowOffsets.size + 1) * words;
    rowOffsets.set(code, row);
    closure.from(step, previous, (at, next) => {
      for (const position of ofStep.get(at) ?? []) {
        if ((list[position]!.kinds & next) !== 0) setBit(rows, row, position);
      }
    });
    return row;
  }

  const rowOf = new Int32Array(size);
  for (const [position, { out, previous }] of list.entries()) {
    if (out !== undefined) rowOf[position] = followers(out, previous);
    if (closure.visits() > limits.visits) return undefined;
  }
  const first = followers(program.start, "begin");
  closure.from(program.start, "begin", (at, next) => {
    if (program.steps[at]!.kind === "match" && (next & kindBit.end) !== 0) matchesEmpty = true;
  });

  const restart = new Int32Array(words);
  const { anywhere, begin } = positions;
  if (anywhere.length === 0) {
    restart.set(rows.subarray(0, words));
    const row = followers(program.start, "other");
    restart.set(rows.subarray(row, row + words));
  } else if (anywhere.some((position) => rows.subarray(rowOf[position], rowOf[position]! + words).some(Boolean))) {
    for (const position of anywhere) {
      setBit(restart, 0, position);
      setBit(rows, first, position);
    }
  }
  const start = new Int32Array(words);
  if (begin !== undefined) setBit(start, 0, begin);

  const reach = new Int32Array((alphabet.end + 1) * words);
  for (const [position, { classes }] of list.entries()) {
    for (const cls of classes) setBit(reach, cls * words, position);
  }
  return {
    size,
    words,
    rowOf,
    rows,
    reach,
    restart,
    start,
    accept: positions.accepting.reduce((bits, position) => bits | (1 << position), 0),
    counters: positions.counted.map(({ enter, exit, ...rest }) => ({ ...rest, enter: 1 << enter, exit: 1 << exit })),
    weaker: positions.rows.filter((row) => row.length > 1),
    matchesEmpty,
  };
}

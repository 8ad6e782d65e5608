import type { Automaton } from "./automaton.ts";
import type { ClassReader } from "./class-reader.ts";
import { createPruning } from "./pruning.ts";
import { createStateTable } from "./state-table.ts";

/** Marks in the transition table in place of a state. */
const UNKNOWN = -1;
const MATCH = -2;
const DEAD = -3;

/** What a {@link LazyDfa} may use. Effort is counted in characters, as much as reading one of known states takes. */
export type DfaLimits = {
  /** For the states it keeps. When they are full, all are dropped. */
  readonly bytes: number;
  /** The effort that making states may take before it has to be earned by reading. */
  readonly credit: number;
};

/**
 * A deterministic automaton whose states, sets of live positions, are made when a text first comes to them (Thompson's
 * grep, RE2). They stay for later texts.
 */
export type LazyDfa = {
  /**
   * Searches the reader's text. Returns nothing when states had to be made faster than reading pays for: then the text
   * must be searched from its begin in another way.
   */
  search(reader: ClassReader): boolean | undefined;
  /** Adds to the credit; a text may as well be searched in another way while it is low. */
  earn(credit: number): void;
  readonly credit: number;
  /** Makes every state that a text can come to; false when that takes more than this effort, or they do not fit. */
  complete(effort: number): boolean;
};

/** Effort for a transition, and for so many words of sets on the way to it. */
const TRANSITION = 40;
const WORDS_PER_CHARACTER = 2;

/**
 * Most positions are followed by themselves, by the next one, by one at another common distance, and by what may follow
 * anywhere. Finds these, and the others, whose followers must be looked up singly.
 */
function commonFollowers({ size, words, rows, rowOf, restart }: Automaton) {
  const stay = new Int32Array(words);
  const step = new Int32Array(words);
  const leap = new Int32Array(words);
  const others = new Int32Array(words);
  const follows = (at: number, far: number) => {
    const word = (at + far) >> 5;
    return word < words && ((rows[rowOf[at]! + word]! >>> ((at + far) & 31)) & 1) === 1;
  };
  const counts = new Uint32Array(32);
  for (let at = 0; at < size; at++) for (let far = 2; far < 32; far++) if (follows(at, far)) counts[far]!++;
  const distance = Math.max(2, counts.indexOf(Math.max(...counts)));
  for (let at = 0; at < size; at++) {
    const [word, bit] = [at >> 5, 1 << (at & 31)];
    if (follows(at, 0)) stay[word]! |= bit;
    if (follows(at, 1)) step[word]! |= bit;
    if (follows(at, distance)) leap[word]! |= bit;
    for (let i = 0; i < words; i++) {
      let rest = rows[rowOf[at]! + i]! & ~restart[i]!;
      if (rest === 0) continue;
      for (const to of [at, at + 1, at + distance]) if (to >> 5 === i) rest &= ~(1 << (to & 31));
      if (rest !== 0) others[word]! |= bit;
    }
  }
  return { stay, step, leap, distance, others };
}

/**
 * Reads on from place `from`, in the state in `cell`, as long as the transitions are known. Returns the place of the class
 * after which they are not, or `length`; the state is then in `cell`.
 */
function skim(next: Int32Array, classes: Uint16Array, from: number, length: number, cell: Int32Array): number {
  let state = cell[0]!;
  let at = from;
  for (; at < length; at++) {
    const to = next[state + classes[at]!]!;
    if (to < 0) break;
    state = to;
  }
  cell[0] = state;
  return at;
}

/** Makes the deterministic form of an automaton without counters. */
export function createLazyDfa(automaton: Automaton, limits: DfaLimits): LazyDfa {
  const { words, rows, rowOf, reach, restart, accept } = automaton;
  const stride = reach.length / words;
  const end = stride - 1;
  const bounded = restart.every((word) => word === 0);
  const states = createStateTable(words, stride, UNKNOWN, limits.bytes);
  const set = states.candidate;
  const cell = new Int32Array(1);
  let credit = limits.credit;

  const { stay, step, leap, distance, others } = commonFollowers(automaton);
  const back = 32 - distance;
  const prune = createPruning(automaton);

  /** What can follow the state `followed`, before it is known which character does. */
  const followers = new Int32Array(words);
  let followed = -1;

  function follow(state: number): void {
    followed = state;
    const from = (state / stride) * words;
    const { sets } = states;
    let effort = 3 * words;
    let carry = 0;
    for (let i = 0; i < words; i++) {
      const live = sets[from + i]!;
      const stepping = live & step[i]!;
      const leaping = live & leap[i]!;
      followers[i] = restart[i]! | (live & stay[i]!) | (stepping << 1) | (leaping << distance) | carry;
      carry = (stepping >>> 31) | (leaping >>> back);
    }
    for (let i = 0; i < words; i++) {
      for (let live = sets[from + i]! & others[i]!; live !== 0; live &= live - 1) {
        const row = rowOf[i * 32 + 31 - Math.clz32(live & -live)]!;
        for (let k = 0; k < words; k++) followers[k]! |= rows[row + k]!;
        effort += words;
      }
    }
    credit -= effort / WORDS_PER_CHARACTER;
  }

  /** The state of what is in `set`. */
  function intern(): number {
    const { generation } = states;
    const state = states.intern();
    if (generation !== states.generation) followed = -1;
    return state;
  }

  /** Puts what is live after `cls` in a state into `set`. Returns its mark, or the state as the place of its transitions. */
  function after(state: number, cls: number): number {
    if (state !== followed) follow(state);
    let any = 0;
    for (let k = 0, at = cls * words; k < words; k++) any |= set[k] = followers[k]! & reach[at + k]!;
    credit -= TRANSITION + prune(set) + (3 * words) / WORDS_PER_CHARACTER;
    if ((set[0]! & accept) !== 0) return MATCH;
    if (cls === end || (any === 0 && bounded)) return DEAD;
    return intern();
  }

  /** As {@link after}; keeps the answer, unless the table was emptied on the way. */
  function make(state: number, cls: number): number {
    const { generation } = states;
    const to = after(state, cls);
    if (generation === states.generation) states.next[state + cls] = to;
    return to;
  }

  function begin(): number {
    set.set(automaton.start);
    return intern();
  }

  return {
    search(reader) {
      const { classes } = reader;
      let state = begin();
      for (let length = reader.next(); length > 0; length = reader.next()) {
        for (let from = 0; ; from++) {
          cell[0] = state;
          from = skim(states.next, classes, from, length, cell);
          state = cell[0];
          if (from === length) break;
          let to = states.next[state + classes[from]!]!;
          if (to === UNKNOWN) {
            if (credit < 0) return undefined;
            to = make(state, classes[from]!);
          }
          if (to === MATCH) return true;
          if (to === DEAD) return false;
          state = to;
        }
        credit = Math.min(limits.credit, credit + length);
      }
      return false;
    },
    earn(earned) {
      credit = Math.min(limits.credit, credit + earned);
    },
    get credit() {
      return credit;
    },
    complete(effort) {
      const { generation } = states;
      credit = effort;
      begin();
      for (let state = 0; state < states.count && credit > 0 && generation === states.generation; state++) {
        for (let cls = 0; cls < stride; cls++) make(state * stride, cls);
      }
      const complete = credit > 0 && generation === states.generation;
      credit = limits.credit;
      return complete;
    },
  };
}

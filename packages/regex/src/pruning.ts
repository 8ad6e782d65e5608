import type { Automaton } from "./automaton.ts";

/** Rows that a position can be in; one in more is only left out for the sake of these. */
const ROWS_MAX = 2;

/** For rows in one direction: by position, its rows, and -1 where there are fewer. */
type Membership = { readonly rowsOf: Int32Array; readonly members: Int32Array };

function membership({ size, words }: Automaton, rows: readonly (readonly number[])[]): Membership {
  const rowsOf = new Int32Array(size * ROWS_MAX).fill(-1);
  const members = new Int32Array(words);
  rows.forEach((row, number) => {
    for (const position of row) {
      const free = rowsOf.indexOf(-1, position * ROWS_MAX);
      if (free >= (position + 1) * ROWS_MAX || free < 0) continue;
      rowsOf[free] = number;
      members[position >> 5]! |= 1 << (position & 31);
    }
  });
  return { rowsOf, members };
}

/**
 * Makes a function that takes out of a live set the positions that are of no account beside others of it, so that fewer
 * sets are different. Of the beginnings of `x.{0,1000}y` it leaves the last. The function returns how many positions it
 * looked at, a measure of its time.
 */
export function createPruning(automaton: Automaton): (set: Int32Array) => number {
  const { words, weaker } = automaton;
  if (weaker.length === 0) return () => 0;
  const upward = membership(
    automaton,
    weaker.filter((row) => row[0]! < row[1]!),
  );
  const downward = membership(
    automaton,
    weaker.filter((row) => row[0]! > row[1]!),
  );
  /** By row, when a member of it was last met. */
  const met = new Int32Array(weaker.length);
  let turn = 0;
  let looked = 0;

  /** Meets a position; whether a stronger one of one of its rows was met before. */
  function isWeaker(rowsOf: Int32Array, position: number): boolean {
    let weak = false;
    looked++;
    for (let i = position * ROWS_MAX; i < (position + 1) * ROWS_MAX; i++) {
      const row = rowsOf[i]!;
      if (row < 0) break;
      if (met[row] === turn) weak = true;
      met[row] = turn;
    }
    return weak;
  }

  return (set) => {
    looked = 0;
    turn++;
    for (let i = 0; i < words; i++) {
      for (let rest = set[i]! & upward.members[i]!; rest !== 0; rest &= rest - 1) {
        const bit = 31 - Math.clz32(rest & -rest);
        if (isWeaker(upward.rowsOf, i * 32 + bit)) set[i]! &= ~(1 << bit);
      }
    }
    turn++;
    for (let i = words - 1; i >= 0; i--) {
      for (let rest = set[i]! & downward.members[i]!; rest !== 0;) {
        const bit = 31 - Math.clz32(rest);
        rest &= ~(1 << bit);
        if (isWeaker(downward.rowsOf, i * 32 + bit)) set[i]! &= ~(1 << bit);
      }
    }
    return looked;
  };
}

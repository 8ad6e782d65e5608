import { kinds, type Alphabet, type Kind } from "./alphabet.ts";
import { findSensitivity, kindBit, type Previous } from "./closure.ts";
import type { Program } from "./program.ts";

/** A place of the pattern that a character can stand at. */
export type Position = {
  /** Classes of the characters that can stand here. */
  readonly classes: readonly number[];
  /** The kinds of these characters, as bits of {@link kindBit}. */
  readonly kinds: number;
  /** The step that comes after, if any. */
  readonly out: number | undefined;
  /** What an assertion that comes after sees here. */
  readonly previous: Previous;
};

/** A counted run: the position of its first character, and that of any character which completes enough of them. */
export type CountedPositions = {
  readonly enter: number;
  readonly exit: number;
  readonly members: Uint8Array;
  readonly min: number;
  readonly max: number;
};

/** All positions of a program, and what the special ones among them are for. */
export type Positions = {
  readonly list: readonly Position[];
  /** The positions of a consuming or matching step. */
  readonly ofStep: ReadonlyMap<number, readonly number[]>;
  readonly accepting: readonly number[];
  readonly counted: readonly CountedPositions[];
  /** By step, whether what follows depends on what stands before. */
  readonly sensitive: Uint8Array;
  /** The position before the text, where what the pattern begins with depends on it. */
  readonly begin: number | undefined;
  /** By kind of the last character: positions from which a match may begin; none where all kinds are alike. */
  readonly anywhere: readonly number[];
  /** Rows of positions of which each can be followed by no more than those before it; see the program. */
  readonly rows: readonly (readonly number[])[];
  /** How many positions, from the first, are of the special sorts above; all others are single characters. */
  readonly specials: number;
};

/**
 * Lays out the positions of a program: the special ones first, then the single characters in the order of the pattern. A
 * character that an assertion looks at gets one position for each kind of character that assertions tell apart.
 */
export function layOutPositions(program: Program, alphabet: Alphabet): Positions {
  const { steps, start } = program;
  const { kindOf, end } = alphabet;
  const present = kinds.filter((kind) => kindOf.includes(kind));
  const { beforeAssertion: sensitive, afterAssertion } = findSensitivity(program);

  const list: Position[] = [];
  const ofStep = new Map<number, number[]>();
  const counted: CountedPositions[] = [];
  const add = (position: Position): number => list.push(position) - 1;
  const everything = new Uint8Array(end).fill(1);
  /** A position for those members that are of these kinds, if there are any. */
  const addMembers = (members: Uint8Array, of: readonly Kind[], out?: number): number[] => {
    const classes = [...members.keys()].filter((i) => members[i] === 1 && of.includes(kindOf[i]!));
    const bits = new Set(classes.map((i) => kindBit[kindOf[i]!]));
    const own = [...bits].reduce((all, bit) => all | bit, 0);
    return classes.length === 0
      ? []
      : [add({ classes, kinds: own, out, previous: of.length === 1 ? of[0]! : "other" })];
  };

  // A match shows once it is known what comes next: anything, one kind of character, or the end.
  const matching = [...steps.keys()].find((i) => steps[i]!.kind === "match")!;
  const accepting = present.flatMap((kind) => addMembers(everything, [kind]));
  accepting.push(add({ classes: [end], kinds: kindBit.end, out: undefined, previous: "other" }));
  ofStep.set(matching, accepting);

  const consuming = [...steps.keys()].reverse().filter((i) => "set" in steps[i]!);
  for (const at of consuming) {
    const step = steps[at]!;
    if (step.kind !== "count") continue;
    const members = alphabet.members(step.set);
    const [enter] = addMembers(members, present);
    if (enter === undefined) continue;
    const exit = add({ classes: [], kinds: 0, out: step.out, previous: "other" });
    ofStep.set(at, [enter]);
    counted.push({ enter, exit, members, min: step.min, max: step.max });
  }

  const bound = sensitive[start] === 1;
  const begin = bound ? add({ classes: [], kinds: 0, out: start, previous: "begin" }) : undefined;
  const anywhere = bound && present.length > 1 ? present.flatMap((kind) => addMembers(everything, [kind], start)) : [];
  const specials = list.length;

  for (const at of consuming) {
    const step = steps[at]!;
    if (step.kind !== "chars") continue;
    const members = alphabet.members(step.set);
    const apart = present.length > 1 && (sensitive[step.out] === 1 || afterAssertion[at] === 1);
    const sorts = apart ? present.map((kind) => [kind]) : [present];
    ofStep.set(
      at,
      sorts.flatMap((sort) => addMembers(members, sort, step.out)),
    );
  }
  const rows = program.rows.flatMap((row) => {
    const copies = row.map((step) => ofStep.get(step) ?? []);
    // Copies in other surroundings may be told apart by more kinds of characters.
    const alike = copies.filter((copy) => copy.length === copies[0]!.length);
    return copies[0]!.map((_, i) => alike.map((copy) => copy[i]!));
  });
  return { list, ofStep, rows, accepting, counted, sensitive, begin, anywhere, specials };
}

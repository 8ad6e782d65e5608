import { MAX_RUNE, type RuneSet } from "./rune-set.ts";
import { assertion, type Node } from "./tree.ts";

/** Stands in {@link Alphabet.units} for a unit of a surrogate pair, whose class only the whole pair tells. */
export const SURROGATE = 0xff_ff;

const WORD = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const NEWLINE = [10, 10];

/** What an assertion sees of a character. `other` is also what all characters are where no assertion looks at them. */
export const kinds = ["word", "newline", "other"] as const;
export type Kind = (typeof kinds)[number];

/**
 * Code points grouped into classes that no set of the pattern and no assertion tells apart, numbered from 0; the number
 * after the last, `end`, stands for the end of the text.
 */
export type Alphabet = {
  readonly end: number;
  /** Class of each UTF-16 code unit, or {@link SURROGATE}. */
  readonly units: Uint16Array;
  /** Class of any code point, surrogates that stand alone included. */
  classOf(rune: number): number;
  /** By class, 1 where the class is in the set. The set is one of the pattern. */
  members(set: RuneSet): Uint8Array;
  /** By class, without `end`. Only kinds that an assertion of the pattern tells apart occur. */
  readonly kindOf: readonly Kind[];
};

/** The sets and the assertion flags of a tree; parts that are shared are looked at once. */
function ingredients(root: Node): { sets: Set<RuneSet>; flags: number } {
  const sets = new Set<RuneSet>();
  let flags = 0;
  const seen = new Set<Node>([root]);
  for (const node of seen) {
    if (node.kind === "run") sets.add(node.set);
    if (node.kind === "assert") flags |= node.flag;
    if ("body" in node) seen.add(node.body);
    if ("parts" in node) for (const part of node.parts) seen.add(part);
  }
  return { sets, flags };
}

/** Where some set begins or has just ended: the first code points of stretches that lie wholly in or out of every set. */
function stretchStarts(sets: Iterable<{ readonly ranges: readonly number[] }>): Int32Array {
  const starts = [0];
  for (const { ranges } of sets) {
    for (let i = 0; i < ranges.length; i += 2) starts.push(ranges[i]!, ranges[i + 1]! + 1);
  }
  return Int32Array.from(new Set(starts.filter((rune) => rune <= MAX_RUNE))).sort();
}

/** By stretch, 1 where it is in the ranges. */
function stretchMembers(starts: Int32Array, ranges: readonly number[]): Uint8Array {
  const members = new Uint8Array(starts.length);
  let range = 0;
  for (let i = 0; i < starts.length; i++) {
    while (range < ranges.length && ranges[range + 1]! < starts[i]!) range += 2;
    if (range < ranges.length && ranges[range]! <= starts[i]!) members[i] = 1;
  }
  return members;
}

/** Groups the code points of a pattern's sets. */
export function createAlphabet(root: Node): Alphabet {
  const { sets, flags } = ingredients(root);
  const looks: { kind: Kind; ranges: number[] }[] = [];
  if ((flags & (assertion.wordBoundary | assertion.noWordBoundary)) !== 0) looks.push({ kind: "word", ranges: WORD });
  if ((flags & (assertion.lineBegin | assertion.lineEnd)) !== 0) looks.push({ kind: "newline", ranges: NEWLINE });

  const starts = stretchStarts([...sets, ...looks]);
  const membersOf = (ranges: readonly number[]) => stretchMembers(starts, ranges);
  const bySet = new Map([...sets].map((set) => [set, membersOf(set.ranges)]));
  const byKind = looks.map(({ kind, ranges }) => ({ kind, members: membersOf(ranges) }));

  // Split all stretches by one set after the other; what no set has split is one class.
  const classes = new Uint16Array(starts.length);
  let count = 1;
  for (const members of [...bySet.values(), ...byKind.map((look) => look.members)]) {
    const renamed = new Map<number, number>();
    for (let i = 0; i < starts.length; i++) {
      const name = classes[i]! * 2 + members[i]!;
      if (!renamed.has(name)) renamed.set(name, renamed.size);
      classes[i] = renamed.get(name)!;
    }
    count = renamed.size;
  }

  const sample = new Int32Array(count);
  for (let i = 0; i < starts.length; i++) sample[classes[i]!] = i;
  const units = new Uint16Array(0x1_00_00);
  for (let i = 0; i < starts.length; i++) units.fill(classes[i]!, starts[i], starts[i + 1] ?? units.length);
  units.fill(SURROGATE, 0xd8_00, 0xe0_00);

  // Beyond the units, classes are laid out 256 at a time, when a text comes to them.
  const pages: (Uint16Array | undefined)[] = Array.from({ length: (MAX_RUNE >> 8) + 1 });
  function pageOf(number: number): Uint16Array {
    const first = number * 256;
    const page = new Uint16Array(256);
    let stretch = starts.findLastIndex((start) => start <= first);
    for (let i = 0; i < 256; i++) {
      while (stretch + 1 < starts.length && starts[stretch + 1]! <= first + i) stretch++;
      page[i] = classes[stretch]!;
    }
    return page;
  }

  return {
    end: count,
    units,
    classOf: (rune) => (pages[rune >> 8] ??= pageOf(rune >> 8))[rune & 255]!,
    members: (set) => Uint8Array.from(sample, (stretch) => bySet.get(set)![stretch]!),
    kindOf: Array.from(sample, (stretch) => byKind.find(({ members }) => members[stretch] === 1)?.kind ?? "other"),
  };
}

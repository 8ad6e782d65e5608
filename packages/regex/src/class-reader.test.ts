import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { createAlphabet } from "./alphabet.ts";
import { createClassReader } from "./class-reader.ts";
import { parse } from "./parse.ts";
import { createRuneSets } from "./rune-set.ts";
import { either, run } from "./tree.ts";

/** All classes of a text, by way of the reader. */
function classesOf(alphabet: ReturnType<typeof createAlphabet>, text: string): number[] {
  const reader = createClassReader(alphabet);
  const classes: number[] = [];
  reader.open(text);
  for (let length = reader.next(); length > 0; length = reader.next())
    classes.push(...reader.classes.subarray(0, length));
  return classes;
}

describe("the classes of an alphabet", () => {
  const rune = fc.oneof(
    fc.nat(200),
    fc.integer({ min: 0xd7_f0, max: 0xe0_10 }),
    fc.nat(0x10_ff_ff),
    fc.constant(0x10_ff_ff),
  );
  const ranges = fc.array(
    fc.tuple(rune, rune).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]),
    { minLength: 1, maxLength: 4 },
  );

  test("tell two characters apart exactly when some set of the pattern does", () => {
    fc.assert(
      fc.property(fc.array(ranges, { minLength: 1, maxLength: 4 }), rune, rune, (given, one, other) => {
        const sets = createRuneSets();
        const own = given.map((pairs) => sets.of(pairs.flat()));
        const alphabet = createAlphabet(either(own.map((set) => run(set, 1, 1))));
        const isIn = (pairs: number[][], code: number) => pairs.some(([lo, hi]) => lo! <= code && code <= hi!);
        const alike = given.every((pairs) => isIn(pairs, one) === isIn(pairs, other));
        expect(alphabet.classOf(one) === alphabet.classOf(other)).toBe(alike);
        own.forEach((set, i) =>
          expect(alphabet.members(set)[alphabet.classOf(one)]).toBe(isIn(given[i]!, one) ? 1 : 0),
        );
      }),
    );
  });

  test("tell apart what assertions look at, and only then", () => {
    const kinds = (pattern: string) => [...new Set(createAlphabet(parse(pattern)).kindOf)].sort();
    expect(kinds("^a.$")).toEqual(["other"]);
    expect(kinds("\\ba.")).toEqual(["other", "word"]);
    expect(kinds("(?m)^a(?s:.)\\b")).toEqual(["newline", "other", "word"]);
  });
});

describe("a class reader", () => {
  const alphabet = createAlphabet(parse("a|é|\\x{1F600}|\\x{D83D}|[😁-😂]"));

  test("reads code points, the halves of no pair as themselves, and the end", () => {
    const pieces = fc.constantFrom("a", "b", "é", "😀", "😁", "😃", "\uD83D", "\uDE00", "\uD83Da");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), fc.constantFrom(0, 8_180, 8_190, 16_370), (parts, before) => {
        const text = "x".repeat(before) + parts.join("");
        expect(classesOf(alphabet, text)).toEqual([
          ...Array.from(text, (character) => alphabet.classOf(character.codePointAt(0)!)),
          alphabet.end,
        ]);
      }),
      { numRuns: 50 },
    );
  });

  test.each([0, 1, 8_191, 8_192, 8_193, 16_384])("ends a text of %d characters once", (length) => {
    const classes = classesOf(alphabet, "a".repeat(length));
    expect([classes.length, classes.indexOf(alphabet.end)]).toEqual([length + 1, length]);
  });
});

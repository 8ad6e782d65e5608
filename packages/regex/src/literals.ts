import { casesOf, foldSyntax, kindOf, parseSyntax, type SyntaxNode } from "./syntax-tree.ts";

/**
 * The substrings that a text must contain for a pattern to match it. `any` requires nothing. Every literal has
 * three characters or more and no capital ASCII letters: compare it with the text after its ASCII letters are lowered.
 */
export type Literals =
  | { readonly kind: "any" }
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "and" | "or"; readonly parts: readonly Literals[] };

/** Shorter texts are of no use to an index over triples of characters. */
const LITERAL_MIN = 3;

/** More conditions than these select no better. Leaving some out keeps the rest true. */
const CONDITIONS_MAX = 16;

/** Different texts that are followed side by side, and characters of each. */
const TEXTS_MAX = 8;
const LENGTH_MAX = 64;

/** Different characters at one index that are followed side by side. */
const FORMS_MAX = 3;

/** The Kelvin sign and the long s, which fold to `k` and `s`. */
const KELVIN = 0x21_2a;
const LONG_S = 0x01_7f;

/**
 * Returns the literals that a valid pattern needs to match: every text that it matches, with ASCII letters in lower case,
 * meets them, unless the text holds U+212A or U+017F, which match `k` and `s`. A character beyond ASCII with several cases
 * ends a literal, because texts hold any of them.
 */
export function findLiterals(pattern: string): Literals {
  return conditionOf(foldSyntax(parseSyntax(pattern), knownOf));
}

/**
 * Facts about the texts that a node matches, with ASCII letters in lower case. `exact` lists them all. Where that is
 * not possible, every one begins with one of `first`, ends with one of `last` and meets `inside`.
 */
type Known =
  | { readonly exact: readonly string[] }
  | {
      readonly exact?: undefined;
      readonly first: readonly string[];
      readonly last: readonly string[];
      readonly inside: Literals;
    };

const ANY: Literals = { kind: "any" };
const NOTHING: Known = { first: [""], last: [""], inside: ANY };
const EMPTY: Known = { exact: [""] };

function knownOf(node: SyntaxNode, children: readonly Known[]): Known {
  const only = children[0] ?? NOTHING;
  switch (kindOf(node)) {
    case "EMPTY_MATCH":
    case "BEGIN_LINE":
    case "END_LINE":
    case "BEGIN_TEXT":
    case "END_TEXT":
    case "WORD_BOUNDARY":
    case "NO_WORD_BOUNDARY":
      return EMPTY;
    case "LITERAL":
      return Array.from(node.runes, (rune) => ofOneCharacter(casesOf(rune, node))).reduce(inOrder, EMPTY);
    case "CHAR_CLASS":
      return ofOneCharacter(node.runes);
    case "CAPTURE":
      return only;
    case "PLUS":
      return inexact(only);
    case "QUEST":
      return anyOf([EMPTY, only]);
    case "CONCAT":
      return children.reduce(inOrder, EMPTY);
    case "ALTERNATE":
      return anyOf(children);
    default:
      // True of every node, such as any character, or a repetition that may be left out.
      return NOTHING;
  }
}

function ofOneCharacter(ranges: ArrayLike<number>): Known {
  const exact = formsOf(ranges);
  return exact === undefined ? NOTHING : { exact };
}

/** Returns the texts of one character of the ranges; nothing if they are too many, or differ in texts lowered by ASCII alone. */
function formsOf(ranges: ArrayLike<number>): readonly string[] | undefined {
  const runes: number[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    // At most both cases of every form and the two characters that fold into ASCII.
    if (ranges[i + 1]! - ranges[i]! >= FORMS_MAX * 2) return undefined;
    for (let rune = ranges[i]!; rune <= ranges[i + 1]!; rune++)
      if (rune !== KELVIN && rune !== LONG_S) runes.push(rune);
  }
  if (runes.length > FORMS_MAX * 2) return undefined;
  const lowered = new Set(runes.map((rune) => (rune >= 0x41 && rune <= 0x5a ? rune + 0x20 : rune)));
  // NUL and surrogates cannot be stored or compared everywhere.
  const strange = [...lowered].some((rune) => rune === 0 || (rune >= 0xd8_00 && rune <= 0xdf_ff));
  const foreign = lowered.size > 1 && [...lowered].some((rune) => rune > 0x7f);
  if (lowered.size === 0 || lowered.size > FORMS_MAX || strange || foreign) return undefined;
  return [...lowered].map((rune) => String.fromCodePoint(rune));
}

function inOrder(left: Known, right: Known): Known {
  if (left.exact !== undefined && right.exact !== undefined) {
    const exact = joined(left.exact, right.exact);
    if (exact !== undefined) return { exact };
  }
  const [before, after] = [inexact(left), inexact(right)];
  const middle = joined(before.last, after.first);
  const between = middle === undefined ? [containsOne(before.last), containsOne(after.first)] : [containsOne(middle)];
  return {
    first: (left.exact && joined(left.exact, after.first)) ?? before.first,
    last: (right.exact && joined(before.last, right.exact)) ?? after.last,
    inside: allOf([before.inside, ...between, after.inside]),
  };
}

function anyOf(branches: readonly Known[]): Known {
  const exact = branches.flatMap((branch) => (branch.exact === undefined ? [] : [branch.exact]));
  const all = exact.length === branches.length ? union(exact) : undefined;
  if (all !== undefined) return { exact: all };
  const known = branches.map(inexact);
  return {
    first: union(known.map(({ first }) => first)) ?? [""],
    last: union(known.map(({ last }) => last)) ?? [""],
    inside: oneOf(branches.map(conditionOf)),
  };
}

function inexact(known: Known): Exclude<Known, { exact: readonly string[] }> {
  return known.exact === undefined ? known : { first: known.exact, last: known.exact, inside: ANY };
}

/** Returns every text of one list before every text of the other, if these are not too many or too long. */
function joined(left: readonly string[], right: readonly string[]): readonly string[] | undefined {
  if (left.length * right.length > TEXTS_MAX) return undefined;
  const texts = new Set(left.flatMap((one) => right.map((other) => one + other)));
  return [...texts].some((text) => text.length > LENGTH_MAX) ? undefined : [...texts];
}

/** Returns the texts of all lists, if these are not too many. */
function union(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  const texts = [...new Set(lists.flat())];
  return texts.length > TEXTS_MAX ? undefined : texts;
}

/** Returns what a text must contain to be matched. */
function conditionOf(known: Known): Literals {
  if (known.exact !== undefined) return containsOne(known.exact);
  return allOf([containsOne(known.first), known.inside, containsOne(known.last)]);
}

function containsOne(texts: readonly string[]): Literals {
  return oneOf(texts.map((text) => (Array.from(text).length < LITERAL_MIN ? ANY : { kind: "literal", text })));
}

/** Returns the condition of all parts, without those that others imply. */
function allOf(parts: readonly Literals[]): Literals {
  const kept: Literals[] = [];
  for (const part of parts.flatMap((given) => (given.kind === "and" ? given.parts : [given]))) {
    if (part.kind === "any" || kept.some((other) => implies(other, part))) continue;
    const weaker = kept.filter((other) => !implies(part, other));
    kept.splice(0, kept.length, ...weaker, part);
  }
  return kept.length === 0 ? ANY : kept.length === 1 ? kept[0]! : { kind: "and", parts: kept.slice(0, CONDITIONS_MAX) };
}

/** Returns the condition that one of the parts holds, without those that imply others; `any` if one of them is. */
function oneOf(parts: readonly Literals[]): Literals {
  const kept: Literals[] = [];
  for (const part of parts.flatMap((given) => (given.kind === "or" ? given.parts : [given]))) {
    if (part.kind === "any") return ANY;
    if (kept.some((other) => implies(part, other))) continue;
    const others = kept.filter((other) => !implies(other, part));
    kept.splice(0, kept.length, ...others, part);
  }
  return kept.length === 0 ? ANY : kept.length === 1 ? kept[0]! : { kind: "or", parts: kept };
}

/** Returns whether a text that meets `one` meets `other` for certain. Only the plain cases are seen. */
function implies(one: Literals, other: Literals): boolean {
  if (one.kind === "or") return one.parts.every((part) => implies(part, other));
  if (other.kind === "or") return other.parts.some((part) => implies(one, part));
  return one.kind === "literal" && other.kind === "literal" && one.text.includes(other.text);
}

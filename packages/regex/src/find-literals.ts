import { allOf, any, literal, oneOf, type Literals } from "./literals.ts";
import type { RuneSet } from "./rune-set.ts";
import type { Node } from "./tree.ts";

/** How many different texts are followed side by side, and how many characters of each. */
const TEXTS_MAX = 8;
const LENGTH_MAX = 64;

/** Different characters at one place that are followed side by side. */
const FORMS_MAX = 3;

/**
 * What is known of the texts that a node matches, with ASCII letters in lower case. `exact` lists them all; where that is
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

const nothing: Known = { first: [""], last: [""], inside: any };

/** Folds to `k` and to `s`. Texts that hold them are not promised anything. */
const KELVIN = 0x21_2a;
const LONG_S = 0x01_7f;

/** The texts of one character of the set; nothing where these are too many, or not alike in a text that is only lowered by ASCII. */
function formsOf({ ranges }: RuneSet): readonly string[] | undefined {
  const runes: number[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    // Both cases and the two strangers of every form, at most.
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

/** Every text of one list before every text of the other, if these are not too many or too long. */
function joined(left: readonly string[], right: readonly string[]): readonly string[] | undefined {
  if (left.length * right.length > TEXTS_MAX) return undefined;
  const texts = new Set(left.flatMap((one) => right.map((other) => one + other)));
  return [...texts].some((text) => text.length > LENGTH_MAX) ? undefined : [...texts];
}

const containsOne = (texts: readonly string[]) => oneOf(texts.map(literal));

function inexact(known: Known): Exclude<Known, { exact: readonly string[] }> {
  return known.exact === undefined ? known : { first: known.exact, last: known.exact, inside: any };
}

/** What a text must contain to be matched. */
function conditionOf(known: Known): Literals {
  if (known.exact !== undefined) return containsOne(known.exact);
  return allOf([containsOne(known.first), known.inside, containsOne(known.last)]);
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
  const union = (lists: readonly (readonly string[])[]) => {
    const texts = [...new Set(lists.flat())];
    return texts.length > TEXTS_MAX ? undefined : texts;
  };
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

function ofRun({ set, min, max }: Extract<Node, { kind: "run" }>): Known {
  const forms = formsOf(set);
  if (forms === undefined) return nothing;
  let certain: readonly string[] = [""];
  let length = 0;
  for (; length < min; length++) {
    const longer = joined(certain, forms);
    if (longer === undefined) break;
    certain = longer;
  }
  if (length === max) return { exact: certain };
  if (min === 0 && max === 1) return { exact: ["", ...forms] };
  return { first: certain, last: certain, inside: any };
}

/**
 * The literals that are necessary for a tree to match: every text that it matches, with ASCII letters in lower case, meets
 * them, unless the text holds U+212A or U+017F, which match `k` and `s`. Characters beyond ASCII with several cases end a
 * literal, since texts hold any of them.
 */
export function findLiterals(root: Node): Literals {
  const known = new Map<Node, Known>();
  const look = (node: Node): Known => {
    const found = known.get(node) ?? fresh(node);
    known.set(node, found);
    return found;
  };
  function fresh(node: Node): Known {
    switch (node.kind) {
      case "empty":
      case "assert":
        return { exact: [""] };
      case "never":
        return nothing;
      case "run":
        return ofRun(node);
      case "concat":
        return node.parts.map(look).reduce(inOrder);
      case "either":
        return anyOf(node.parts.map(look));
      case "plus":
        return inexact(look(node.body));
      case "atLeast":
        return inexact(inOrder(look(node.body), inexact(look(node.body))));
      case "atMost":
        return nothing;
      case "maybe":
        return anyOf([{ exact: [""] }, look(node.body)]);
    }
  }
  return conditionOf(look(root));
}

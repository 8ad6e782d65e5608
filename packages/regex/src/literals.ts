/**
 * What a text must contain for a pattern to match it, as far as that can be told by substrings. `any` tells nothing. Every
 * literal has three characters or more and no capital ASCII letters: the text is to be compared with its own
 * ASCII letters in lower case.
 */
export type Literals =
  | { readonly kind: "any" }
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "and" | "or"; readonly parts: readonly Literals[] };

/** Shorter texts are of no use to an index over triples of characters. */
const LITERAL_MIN = 3;

/** More conditions than these select no better; leaving some out keeps the rest true. */
const CONDITIONS_MAX = 16;

/** Tells nothing. */
export const any: Literals = { kind: "any" };

/** That a text is contained; {@link any} if it is too short to be of use. */
export function literal(text: string): Literals {
  return Array.from(text).length < LITERAL_MIN ? any : { kind: "literal", text };
}

/** Whether a text that meets `one` meets `other` for certain; only the plain cases are seen. */
function implies(one: Literals, other: Literals): boolean {
  if (one.kind === "or") return one.parts.every((part) => implies(part, other));
  if (other.kind === "or") return other.parts.some((part) => implies(one, part));
  return one.kind === "literal" && other.kind === "literal" && one.text.includes(other.text);
}

/** All of the parts; parts that others imply are left out. */
export function allOf(parts: readonly Literals[]): Literals {
  const kept: Literals[] = [];
  for (const part of parts.flatMap((given) => (given.kind === "and" ? given.parts : [given]))) {
    if (part.kind === "any" || kept.some((other) => implies(other, part))) continue;
    const weaker = kept.filter((other) => !implies(part, other));
    kept.splice(0, kept.length, ...weaker, part);
  }
  return kept.length === 0 ? any : kept.length === 1 ? kept[0]! : { kind: "and", parts: kept.slice(0, CONDITIONS_MAX) };
}

/** One of the parts; `any` if one of them is. */
export function oneOf(parts: readonly Literals[]): Literals {
  const kept: Literals[] = [];
  for (const part of parts.flatMap((given) => (given.kind === "or" ? given.parts : [given]))) {
    if (part.kind === "any") return any;
    if (kept.some((other) => implies(part, other))) continue;
    const stronger = kept.filter((other) => implies(other, part));
    kept.splice(0, kept.length, ...kept.filter((other) => !stronger.includes(other)), part);
  }
  return kept.length === 0 ? any : kept.length === 1 ? kept[0]! : { kind: "or", parts: kept };
}

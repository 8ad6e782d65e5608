/** The texts that stand for the numbers which JSON does not have, in bodies and answers. */
export const NON_FINITE_TEXTS = ["NaN", "Infinity", "-Infinity"] as const;

/** The value of a bare token, such as Python writes, in a body that may have them. A symbol, because no field takes one that does not look for it. */
export const BARE_TOKENS: ReadonlyMap<string, symbol> = new Map(NON_FINITE_TEXTS.map((text) => [text, Symbol(text)]));

const numbers: ReadonlyMap<unknown, number> = new Map(
  NON_FINITE_TEXTS.flatMap((text): [unknown, number][] => [
    [text, Number(text)],
    [BARE_TOKENS.get(text), Number(text)],
  ]),
);

/** Reads one of the texts or the bare tokens; undefined for everything else, numbers included. */
export function nonFiniteOf(value: unknown): number | undefined {
  return numbers.get(value);
}

/** Returns the text of a bare token, which stands for it in a document. */
export function textOfToken(token: symbol): string {
  return token.description ?? "";
}

/** Returns a number as JSON: the digits of a finite one, the text of any other. */
export function anyNumberJson(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
}

/** The texts that stand for the numbers which JSON does not have, in bodies and answers. */
export const NON_FINITE_TEXTS = ["NaN", "Infinity", "-Infinity"] as const;

const numbers: ReadonlyMap<unknown, number> = new Map(NON_FINITE_TEXTS.map((text) => [text, Number(text)]));

/** Reads one of the texts; undefined for everything else. */
export function nonFiniteOf(value: unknown): number | undefined {
  return numbers.get(value);
}

/** Returns a number as JSON: the digits of a finite one, the text of any other. */
export function anyNumberJson(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
}

/** Yields the numbers of a config with their names, in which nested keys are joined by points. */
export function* numbersIn(value: unknown, prefix = ""): Generator<readonly [name: string, value: number]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const name = prefix + key;
    if (typeof member === "number") yield [name, member];
    else yield* numbersIn(member, `${name}.`);
  }
}

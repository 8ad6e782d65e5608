// The numbers that are written: seeded, so that two runs of a bench get the same.

/** Numbers in [0, 1) with 32 random bits, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Values that training logs, as classes that compress differently. */
export const valueClasses = ["noisy", "float32", "integer", "constant"] as const;

export type ValueClass = (typeof valueClasses)[number];

/** A value with all 52 bits of its fraction in use, as sums of logarithms have. */
const noise = (random: () => number): number => random() + random() * 2 ** -32;

/**
 * Returns one series from step 0 on: `noisy` is a falling loss in full precision, `float32` the same as a network in single precision reports it,
 * `integer` a counter such as tokens seen or memory in MiB, `constant` a setting that is logged at each step.
 */
export function seriesValues(kind: ValueClass, count: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  const values = new Float64Array(count);
  const level = Math.fround(random());
  let counter = Math.floor(random() * 1000);
  for (let step = 0; step < count; step += 1) {
    const loss = 2 / Math.sqrt(1 + step / 300) + 0.1 * noise(random);
    counter += Math.floor(random() * 64);
    values[step] =
      kind === "noisy" ? loss : kind === "float32" ? Math.fround(loss) : kind === "integer" ? counter : level;
  }
  return values;
}

/** Returns values in full precision without a course. */
export function noiseValues(count: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  return Float64Array.from({ length: count }, () => noise(random));
}

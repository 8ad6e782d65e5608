/** Whether more or less of a metric is better. */
export type Direction = "max" | "min";

/** How a value compares to the baseline's. */
export type Delta = { readonly text: string; readonly tone: "better" | "worse" | "even" };

type Figures = { readonly min: number | null; readonly max: number | null; readonly best: number | null };

/** Returns the direction of a metric by what the server counts as its best value; undefined where all values are the same. */
export function directionOf({ min, max, best }: Figures): Direction | undefined {
  if (best === null || min === max) return undefined;
  if (best === max) return "max";
  return best === min ? "min" : undefined;
}

/** Returns the difference of two numbers, with its sign, and whether it is better; undefined where there is nothing to compare. */
export function deltaOf(value: unknown, base: unknown, direction: Direction | undefined): Delta | undefined {
  if (typeof value !== "number" || typeof base !== "number") return undefined;
  const difference = value - base;
  if (difference === 0) return { text: "±0", tone: "even" };
  const text = `${difference > 0 ? "+" : "−"}${short(Math.abs(difference))}`;
  if (direction === undefined) return { text, tone: "even" };
  return { text, tone: difference > 0 === (direction === "max") ? "better" : "worse" };
}

const short = (size: number): string => String(Number(size.toPrecision(4)));

/** Reads the directions that a person chose, as addresses have them: `max:reward,min:loss`. */
export function readDirections(texts: readonly string[]): ReadonlyMap<string, Direction> {
  return new Map(
    texts.flatMap((text): [string, Direction][] => {
      const [, direction, key] = /^(max|min):(.+)$/s.exec(text) ?? [];
      return key === undefined ? [] : [[key, direction as Direction]];
    }),
  );
}

/** Writes what `readDirections` reads. */
export const writeDirections = (directions: ReadonlyMap<string, Direction>): string[] =>
  [...directions].map(([key, direction]) => `${direction}:${key}`);

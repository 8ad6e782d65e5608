import type { ImportWarning } from "./content.rules.ts";

/** Counts omitted items. */
export type Skipped = {
  /** Counts one more for this reason. */
  add(code: string): void;
  /** Returns how many items were omitted. */
  count(): number;
  /** Returns one warning for each reason. */
  warnings(): ImportWarning[];
};

/** Begins to count. */
export function createSkipped(): Skipped {
  const counts = new Map<string, number>();
  return {
    add: (code) => void counts.set(code, (counts.get(code) ?? 0) + 1),
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    warnings: () => [...counts].map(([code, count]) => ({ code, message: `${count} skipped` })),
  };
}

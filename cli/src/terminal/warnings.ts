/** Counts what was left out, by reason. */
export type Warnings = {
  /** Counts one thing, or `count`. The first detail of a reason is kept. */
  add(reason: string, detail?: string, count?: number): void;
  /** A line for each reason. */
  lines(): string[];
};

/** Creates counters of data that is left out. */
export function createWarnings(): Warnings {
  const counted = new Map<string, { count: number; detail: string | undefined }>();
  return {
    add(reason, detail, count = 1) {
      if (count === 0) return;
      const entry = counted.get(reason);
      if (entry === undefined) counted.set(reason, { count, detail });
      else entry.count += count;
    },
    lines: () =>
      Array.from(
        counted,
        ([reason, { count, detail }]) =>
          `${count} x ${reason}${detail === undefined ? "" : `, first: ${printable(detail)}`}`,
      ),
  };
}

/** Returns a text without what a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}

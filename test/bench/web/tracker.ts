import type { WebFigure } from "./figures.ts";

/** A measurement by its name. */
export type TrackerCase<Pages> = readonly [
  name: string,
  measure: (pages: Pages, rounds: number) => Promise<readonly WebFigure[]>,
];

/** A tracker that runs and has its data. */
export type OpenedTracker<Pages> = { readonly pages: Pages; close(): Promise<void> };

/** Measures the cases whose names contain `only`, one after another, and tells each row as soon as it is there. */
export async function measureCases<Pages>(
  cases: readonly TrackerCase<Pages>[],
  { only, rounds }: { readonly only: string; readonly rounds: number },
  open: () => Promise<OpenedTracker<Pages> | undefined>,
  tell: (figure: WebFigure) => void,
): Promise<readonly WebFigure[]> {
  const chosen = cases.filter(([name]) => name.includes(only));
  if (chosen.length === 0) return [];
  const figures: WebFigure[] = [];
  const tracker = await open();
  if (tracker === undefined) return [];
  try {
    for (const [, measure] of chosen) {
      const measured = await measure(tracker.pages, rounds);
      measured.forEach(tell);
      figures.push(...measured);
    }
  } finally {
    await tracker.close();
  }
  return figures;
}

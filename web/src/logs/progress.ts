/** A line of a console. */
export type LogLine = { readonly number: number; readonly text: string; readonly at: string };

/** Whether a line writes over the one before it: it returns to the start of the line first. */
// oxlint-disable-next-line no-control-regex -- these are what a console sends
const writesOver = (text: string): boolean => /^(?:\u001b\[[0-9;]*[A-Za-z])*\r(?!\r*$)/.test(text);

/**
 * Leaves out the states of progress bars that a later line wrote over, so that 1,000 updates of one bar are one row with its last state.
 * Numbers and order of the others stay.
 */
export function collapseProgress<Line extends { readonly text: string }>(lines: readonly Line[]): readonly Line[] {
  const kept = lines.filter((_line, i) => {
    const next = lines[i + 1];
    return next === undefined || !writesOver(next.text);
  });
  return kept.length === lines.length ? lines : kept;
}

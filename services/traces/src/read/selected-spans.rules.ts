import { findCycles, parentOf } from "../fold/cycles.rules.ts";
import { compareIds } from "../fold/span-ids.rules.ts";
import type { TraceFold } from "../fold/totals.rules.ts";

const NONE = -1;

/** Returns whether `a` comes before `b` in lists: by start, then by id. */
export function isBefore({ table: { ids, columns } }: TraceFold, a: number, b: number): boolean {
  const { start } = columns;
  return start[a]! < start[b]! || (start[a] === start[b] && compareIds(ids, a, b) < 0);
}

/** Returns the first span of each cycle of parents, in the order of lists. */
export function cycleHeads(fold: TraceFold): ReadonlySet<number> {
  const { table, totals } = fold;
  const cycles = totals.cycles === 0 ? [] : findCycles(table);
  return new Set(
    cycles.map((span) => {
      let head = span;
      for (let next = parentOf(table, span); next !== span; next = parentOf(table, next))
        if (isBefore(fold, next, head)) head = next;
      return head;
    }),
  );
}

/** Returns the ended spans without children that took longest, the longest first, at most `count`: those above them only wait. */
export function slowestSpans(fold: TraceFold, count: number): number[] {
  const { ids, columns } = fold.table;
  const lengthOf = (span: number): number => {
    const sent = columns.duration[span]!;
    return Number.isNaN(sent) ? (columns.end[span]! - columns.start[span]!) / 1000 : sent;
  };
  const slowest: { readonly span: number; readonly length: number }[] = [];
  for (let span = 0; span < ids.count; span++) {
    const length = lengthOf(span);
    const last = slowest.at(-1);
    if (Number.isNaN(length) || fold.childCount(span) > 0) continue;
    if (slowest.length === count && last !== undefined && length <= last.length) continue;
    const at = slowest.findIndex((one) => one.length < length);
    slowest.splice(at === -1 ? slowest.length : at, 0, { span, length });
    if (slowest.length > count) slowest.pop();
  }
  return slowest.map(({ span }) => span);
}

/** Returns a span and those above it, from the root on: the nearest `count` of them; empty where it is not among the spans. */
export function pathTo(fold: TraceFold, high: number, low: number, count: number): number[] {
  const path = new Set<number>();
  for (
    let span = fold.table.ids.find(high, low);
    span !== NONE && !path.has(span) && path.size < count;
    span = parentOf(fold.table, span)
  )
    path.add(span);
  return [...path].toReversed();
}

import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";

/** A point of a history; the time is in milliseconds since 1970. */
export type HistoryPoint = { readonly step: number; readonly timestamp: number; readonly value: number };

/** Where a page begins: after the first `skip` stored points of the step. */
export type HistoryPlace = { readonly step: number; readonly skip: number };

/** A page of a history. */
type HistoryPage = { readonly points: readonly HistoryPoint[]; readonly next: HistoryPlace | undefined };

/**
 * Makes a page of at most `rowsMax` stored points from those that begin with the step of `from`, in the order of their steps and of arrival: at least as many
 * as the page takes, and one more where there are more. Points are in the order of step, time and value, and points that are equal in all three are
 * shown once. A page ends with a step, unless it has a single one.
 */
export function historyPage(
  columns: PointColumns,
  from: HistoryPlace,
  rowsMax: number,
  truncated: boolean,
): HistoryPage {
  const { steps } = columns;
  const available = steps.length;
  let end = Math.min(available, from.skip + rowsMax);
  const hasMore = end < available || truncated;
  if (hasMore) {
    // Back to where the last step begins, which may go on behind the page.
    const last = steps[end - 1]!;
    let begin = end;
    while (begin > from.skip && steps[begin - 1] === last) begin -= 1;
    if (begin > from.skip) end = begin;
  }
  const shown = new Set<string>();
  // A step that was begun before: what was shown of it is not shown again.
  for (let i = 0; i < from.skip; i++) shown.add(nameOf(pointAt(columns, i)));
  const points: HistoryPoint[] = [];
  for (let i = from.skip; i < end; i++) {
    const point = pointAt(columns, i);
    const name = nameOf(point);
    if (shown.has(name)) continue;
    shown.add(name);
    points.push(point);
  }
  points.sort((a, b) => a.step - b.step || a.timestamp - b.timestamp || a.value - b.value);
  return { points, next: hasMore ? placeAfter(steps, end) : undefined };
}

/** Returns the place behind the first `end` points. */
function placeAfter(steps: readonly number[], end: number): HistoryPlace {
  const step = steps[end - 1]!;
  let begin = end;
  while (begin > 0 && steps[begin - 1] === step) begin -= 1;
  return { step, skip: end - begin };
}

function pointAt({ steps, values, createdUs, timestampsUs }: PointColumns, i: number): HistoryPoint {
  const sent = timestampsUs[i];
  const us = sent === undefined || Number.isNaN(sent) ? createdUs[i]! : sent;
  return { step: steps[i]!, timestamp: Math.floor(us / 1000), value: values[i]! };
}

const nameOf = ({ step, timestamp, value }: HistoryPoint): string => `${step} ${timestamp} ${value}`;

/** Returns a place as a token. */
export function writePlace({ step, skip }: HistoryPlace): string {
  return `${step}.${skip}`;
}

/** Reads a token; undefined for a foreign one. */
export function readPlace(token: string): HistoryPlace | undefined {
  const [, step, skip] = /^(\d{1,16})\.(\d{1,9})$/.exec(token) ?? [];
  return step === undefined || skip === undefined ? undefined : { step: Number(step), skip: Number(skip) };
}

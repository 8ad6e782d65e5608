import { readCursor, writeCursor } from "@tidemark/values";
import { badRequest } from "@tidemark/errors";
import { spanIdText, statusNumber } from "../fold/span-ids.rules.ts";
import type { TraceFold } from "../fold/totals.rules.ts";
import { cycleHeads, isBefore as comesBefore } from "./selected-spans.rules.ts";

/** Where a page of spans begins: after the span with this start and id. */
export type SpanPosition = { readonly startUs: number; readonly idHigh: number; readonly idLow: number };

/** Which spans: the children of a parent, the roots, all, those whose parent is missing or that are the first of a cycle, or those with an error. */
export type WantedSpans =
  | { readonly parentHigh: number; readonly parentLow: number }
  | "roots"
  | "all"
  | "orphans"
  | "failed";

/** Returns the spans that stand for the roots of a trace: its roots, or all spans of a trace without any. */
export function rootsOf({ totals }: TraceFold): "roots" | "all" {
  return totals.roots === 0 ? "all" : "roots";
}

const ERROR = statusNumber("error");

/** Returns how many spans are wanted. */
export function countSpans(fold: TraceFold, wanted: WantedSpans): number {
  if (wanted === "all") return fold.totals.spans;
  if (wanted === "roots") return fold.totals.roots;
  if (wanted === "orphans") return fold.totals.orphans + fold.totals.cycles;
  if (wanted === "failed") return fold.totals.byStatus[ERROR]!;
  const parent = fold.table.ids.find(wanted.parentHigh, wanted.parentLow);
  return parent === -1 ? fold.missingChildCount(wanted.parentHigh, wanted.parentLow) : fold.childCount(parent);
}

/**
 * Returns the first `count` of the wanted spans after a position, by start, then by id. Looks at the parent of each span once, which takes less than
 * a millisecond for 100,000 spans, so that nothing has to be kept sorted while spans arrive. The chosen ones are a heap, because of spans that arrived in the
 * opposite order each one takes the place of another.
 */
export function chooseSpans(
  fold: TraceFold,
  wanted: WantedSpans,
  after: SpanPosition | undefined,
  count: number,
): number[] {
  const { ids, columns } = fold.table;
  const { start } = columns;
  const isWanted = wantedTest(fold, wanted);
  const chosen: number[] = [];
  const isBefore = (a: number, b: number): boolean => comesBefore(fold, a, b);
  for (let span = 0; span < ids.count; span++) {
    if (!isWanted(span)) continue;
    if (after !== undefined && !isBehind(span)) continue;
    if (chosen.length < count) {
      chosen.push(span);
      if (chosen.length === count) for (let at = count >> 1; at >= 0; at--) sink(at);
    } else if (isBefore(span, chosen[0]!)) {
      chosen[0] = span;
      sink(0);
    }
  }
  return chosen.sort((a, b) => (isBefore(a, b) ? -1 : 1));

  /** Restores the heap, whose first span is the last of the chosen ones, below a place. */
  function sink(from: number): void {
    for (let at = from; ;) {
      let child = 2 * at + 1;
      if (child >= count) return;
      if (child + 1 < count && isBefore(chosen[child]!, chosen[child + 1]!)) child += 1;
      if (!isBefore(chosen[at]!, chosen[child]!)) return;
      [chosen[at], chosen[child]] = [chosen[child]!, chosen[at]!];
      at = child;
    }
  }

  function isBehind(span: number): boolean {
    const { startUs, idHigh, idLow } = after!;
    if (start[span] !== startUs) return start[span]! > startUs;
    return (ids.high(span) - idHigh || ids.low(span) - idLow) > 0;
  }
}

function wantedTest(fold: TraceFold, wanted: WantedSpans): (span: number) => boolean {
  const { ids, columns } = fold.table;
  const { parentHigh, parentLow, status } = columns;
  if (wanted === "all") return () => true;
  if (wanted === "failed") return (span) => status[span] === ERROR;
  if (wanted === "orphans") {
    const heads = cycleHeads(fold);
    const isNamed = (span: number): boolean => parentHigh[span] !== 0 || parentLow[span] !== 0;
    return (span) => heads.has(span) || (isNamed(span) && ids.find(parentHigh[span]!, parentLow[span]!) === -1);
  }
  const [high, low] = wanted === "roots" ? [0, 0] : [wanted.parentHigh, wanted.parentLow];
  return (span) => parentLow[span] === low && parentHigh[span] === high;
}

/** Returns the cursor of the page after a span. It stays valid while spans are added. */
export function writeSpanCursor({ startUs, idHigh, idLow }: SpanPosition): string {
  return writeCursor([startUs, spanIdText(idHigh, idLow)]);
}

/** Reads a cursor; the empty text means the first page. @throws bad_request */
export function readSpanCursor(cursor: string): SpanPosition | undefined {
  if (cursor === "") return undefined;
  const [startUs, id] = readCursor(cursor, 2) ?? [];
  if (Number.isInteger(startUs) && typeof id === "string" && /^[0-9a-f]{16}$/.test(id)) {
    const [idHigh, idLow] = [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8), 16)];
    return { startUs: startUs as number, idHigh, idLow };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

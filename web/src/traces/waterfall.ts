/** A span, as the API returns it. */
export type Span = {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly child_count: number;
  readonly step: number | null;
  readonly rank: number | null;
  readonly attributes: { readonly [key: string]: unknown };
  readonly metrics: { readonly [key: string]: unknown };
  readonly links: unknown;
  readonly input_preview: string;
  readonly output_preview: string;
  readonly error_type: string | null;
  readonly error_preview: string;
  readonly truncated: boolean;
};

/** The parent of spans whose own parent has not arrived, among the lists of children. */
export const ORPHANS = "orphans";

/** The known spans of a trace. `children` has a list for each parent that was read, by its id, in order; `""` are the roots. */
export type SpanTree = {
  readonly spans: ReadonlyMap<string, Span>;
  readonly children: ReadonlyMap<string, readonly string[]>;
};

/** A row of the waterfall: a span, the note that `missing` children of the span above are not loaded, or the heading of spans without their parent. */
export type SpanRow =
  | { readonly kind: "orphans"; readonly count: number; readonly depth: number }
  | { readonly kind: "span"; readonly span: Span; readonly depth: number; readonly isOpen: boolean }
  | { readonly kind: "more"; readonly parentId: string; readonly depth: number; readonly missing: number };

export const emptyTree: SpanTree = { spans: new Map(), children: new Map() };

/** Adds spans that were read as the next children of a parent. Copies the maps once, however many spans there are. */
export function withChildren(
  tree: SpanTree,
  pages: readonly { readonly parentId: string; readonly spans: readonly Span[] }[],
): SpanTree {
  const spans = new Map(tree.spans);
  const children = new Map(tree.children);
  for (const page of pages) {
    const known = children.get(page.parentId) ?? [];
    const seen = new Set(known);
    const added = page.spans.filter((span) => !seen.has(span.span_id)).map((span) => span.span_id);
    for (const span of page.spans) spans.set(span.span_id, span);
    const all = [...known, ...added];
    // The path to a span may have been read before those that start earlier.
    const isInOrder = known.length === 0 || added.length === 0 || !startsBefore(spans, added[0]!, known.at(-1)!);
    children.set(page.parentId, isInOrder ? all : all.toSorted((a, b) => (startsBefore(spans, a, b) ? -1 : 1)));
  }
  return { spans, children };
}

function startsBefore(spans: ReadonlyMap<string, Span>, a: string, b: string): boolean {
  const [one, other] = [Date.parse(spans.get(a)!.started_at), Date.parse(spans.get(b)!.started_at)];
  return one === other ? a < b : one < other;
}

/**
 * Returns the rows to show: roots, and below open spans their children, each with its depth. With a search text only spans whose name,
 * kind or error has it, with those above them. Roots and spans without their parent are as many as `counts` says. Takes time in proportion to the spans, and no recursion, as traces may be deep.
 */
export function spanRows(
  tree: SpanTree,
  options: {
    readonly closed: ReadonlySet<string>;
    readonly search: string;
    readonly counts: { readonly roots: number; readonly orphans: number };
  },
): readonly SpanRow[] {
  const wanted = options.search.trim().toLowerCase();
  const shown = wanted === "" ? undefined : withAncestors(tree, wanted);
  const rows: SpanRow[] = [];
  const seen = new Set<string>();
  const waiting: { readonly row: SpanRow }[] = [];
  const push = (parentId: string, depth: number, count: number): void => {
    const ids = tree.children.get(parentId) ?? [];
    const missing = count - ids.length;
    if (missing > 0 && shown === undefined) waiting.push({ row: { kind: "more", parentId, depth, missing } });
    for (let i = ids.length - 1; i >= 0; i -= 1) {
      const id = ids[i]!;
      if (shown !== undefined && !shown.has(id)) continue;
      const span = tree.spans.get(id)!;
      const isOpen = span.child_count > 0 && tree.children.has(id) && !options.closed.has(id);
      waiting.push({ row: { kind: "span", span, depth, isOpen } });
    }
  };
  const { roots, orphans } = options.counts;
  // What is pushed last is shown first.
  push(ORPHANS, 0, orphans);
  if (orphans > 0 && waiting.length > 0) waiting.push({ row: { kind: "orphans", count: orphans, depth: 0 } });
  push("", 0, roots);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { row } = next;
    if (row.kind === "span") {
      if (seen.has(row.span.span_id)) continue;
      seen.add(row.span.span_id);
    }
    rows.push(row);
    if (row.kind === "span" && row.isOpen) push(row.span.span_id, row.depth + 1, row.span.child_count);
  }
  return rows;
}

function withAncestors({ spans }: SpanTree, wanted: string): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const span of spans.values()) {
    if (!`${span.name}\n${span.kind}\n${span.error_type ?? ""}`.toLowerCase().includes(wanted)) continue;
    for (let at: Span | undefined = span; at !== undefined && !shown.has(at.span_id);) {
      shown.add(at.span_id);
      at = at.parent_span_id === null ? undefined : spans.get(at.parent_span_id);
    }
  }
  return shown;
}

/** The time that a waterfall covers, in epoch milliseconds; a trace without length gets one of a millisecond. */
export type TimeRange = { readonly from: number; readonly to: number };

/** Returns the time from the first start to the last end; running spans count until `now`. */
export function rangeOf(
  trace: { readonly started_at: string; readonly ended_at: string | null },
  now: number,
): TimeRange {
  const from = Date.parse(trace.started_at);
  const to = trace.ended_at === null ? now : Date.parse(trace.ended_at);
  return { from, to: Math.max(to, from + 1) };
}

/** Returns where the bar of a span begins and how long it is, as shares of the range: within [0, 1], never nothing. */
export function barOf(span: Span, { from, to }: TimeRange): { readonly left: number; readonly width: number } {
  const start = Date.parse(span.started_at);
  const length = span.duration_ms ?? (span.ended_at === null ? to - start : Date.parse(span.ended_at) - start);
  const left = Math.min(Math.max((start - from) / (to - from), 0), 0.998);
  return { left, width: Math.min(Math.max(length / (to - from), 0.002), 1 - left) };
}

/** Writes a duration in milliseconds with three digits. */
export function spanDurationWords(ms: number): string {
  if (ms < 1) return `${Number((ms * 1000).toPrecision(3))} µs`;
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(3))} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** The kind of badge that a status gets. */
export function spanStatusKind(status: string): "good" | "bad" | "info" | "warn" {
  return ({ ok: "good", error: "bad", running: "info" } as const)[status] ?? "warn";
}

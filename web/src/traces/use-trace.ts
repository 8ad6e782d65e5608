import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { emptyTree, ORPHANS, withChildren, type Span, type SpanTree } from "./waterfall.ts";

/** A trace without its spans. */
export type Trace = {
  readonly trace_id: string;
  readonly run_name: string;
  readonly project: string;
  readonly root_name: string;
  readonly status: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly span_count: number;
  readonly error_count: number;
  readonly root_count: number;
  readonly orphan_count: number;
};

/** Spans that are loaded without being asked for, and at most. */
const EAGER_MAX = 3_000;
const SPANS_MAX = 50_000;
/** Requests at a time. */
const PARALLEL = 4;
const PAGE = 500;

type Wanted = { readonly parentId: string; readonly cursor: string | undefined };
type SpanPage = { readonly spans: readonly Span[]; readonly next_cursor: string | null };

/** A trace and the spans of it that are loaded. */
export type LoadedTrace = {
  readonly trace: Trace | undefined;
  readonly tree: SpanTree;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads the children of a span. */
  readonly loadChildren: (parentId: string) => void;
  /** Loads all spans, level by level. */
  readonly loadAll: () => void;
  /** Loads a span with those above it, wherever it is in the trace; resolves to the ids of those above. */
  readonly reveal: (spanId: string) => Promise<readonly string[]>;
  /** Returns the ids of the failed spans by start, or of the slowest ones, the slowest first; at most 500. */
  readonly select: (which: "failed" | "slowest") => Promise<readonly string[]>;
};

/** Reads a trace: all spans of a small one immediately, of a large one those that are opened. */
export function useTrace(runId: string, traceId: string): LoadedTrace {
  const [trace, setTrace] = useState<Trace>();
  const [tree, setTree] = useState<SpanTree>(emptyTree);
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const ending = useRef(new AbortController());
  /** Where the children of a span continue, for those that were read in part. */
  const cursors = useRef(new Map<string, string>());
  const latest = useRef(tree);
  const path = `/api/runs/${runId}/traces/${encodeURIComponent(traceId)}`;

  const take = (pages: readonly { readonly parentId: string; readonly spans: readonly Span[] }[]): void => {
    latest.current = withChildren(latest.current, pages);
    setTree(latest.current);
  };

  /** Reads children until there are no more, or as many as may be loaded; `deep` continues with the children of spans that were read. */
  const read = async (first: readonly Wanted[], deep: boolean): Promise<void> => {
    const own = ending.current;
    let wanted = [...first];
    setLoading(true);
    try {
      while (wanted.length > 0 && (!deep || latest.current.spans.size < SPANS_MAX) && !own.signal.aborted) {
        const now = wanted.slice(0, PARALLEL);
        const later = wanted.slice(PARALLEL);
        const pages = await Promise.all(now.map((one) => readPage(one, own.signal)));
        take(pages);
        const next = pages.flatMap(({ parentId, spans, cursor }): Wanted[] => {
          if (cursor !== undefined) cursors.current.set(parentId, cursor);
          else cursors.current.delete(parentId);
          return [
            ...(cursor !== undefined && deep ? [{ parentId, cursor }] : []),
            ...(deep
              ? spans
                  .filter((span) => span.child_count > 0)
                  .map((span) => ({ parentId: span.span_id, cursor: undefined }))
              : []),
          ];
        });
        wanted = [...next, ...later];
      }
    } catch (fault) {
      if (!own.signal.aborted) setError(fault);
    }
    if (!own.signal.aborted) setLoading(false);
  };

  const readPage = async ({ parentId, cursor }: Wanted, signal: AbortSignal) => {
    const query = new URLSearchParams({
      limit: String(PAGE),
      ...(parentId === ORPHANS ? { select: ORPHANS } : { parent_span_id: parentId }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const page = await call<SpanPage>(`${path}/spans?${query.toString()}`, { signal });
    return { parentId, spans: page.spans, cursor: page.next_cursor ?? undefined };
  };

  useEffect(() => {
    const own = new AbortController();
    ending.current = own;
    latest.current = emptyTree;
    cursors.current.clear();
    setTree(emptyTree);
    setTrace(undefined);
    setError(undefined);
    const start = async (): Promise<void> => {
      try {
        const detail = await call<{ trace: Trace; spans: Span[]; root_next_cursor: string | null }>(
          `${path}?span_limit=1000`,
          { signal: own.signal },
        );
        setTrace(detail.trace);
        const { root_count: roots, orphan_count: orphans, span_count: spans } = detail.trace;
        // Without a root the answer has spans of all levels.
        take([{ parentId: "", spans: roots === 0 ? [] : detail.spans }]);
        if (roots > 0 && detail.root_next_cursor !== null) cursors.current.set("", detail.root_next_cursor);
        const lost: Wanted[] = orphans === 0 ? [] : [{ parentId: ORPHANS, cursor: undefined }];
        await read([...toRead(), ...lost], spans <= EAGER_MAX);
      } catch (fault) {
        if (!own.signal.aborted) setError(fault);
      }
    };
    void start();
    return () => own.abort();
  }, [path]);

  /** Data known to be missing: further pages, and children of spans whose children were never read. */
  const toRead = (): readonly Wanted[] => [
    ...[...cursors.current].map(([parentId, cursor]) => ({ parentId, cursor })),
    ...[...latest.current.spans.values()]
      .filter(({ span_id: id, child_count: count }) => count > (latest.current.children.get(id)?.length ?? 0))
      .filter(({ span_id: id }) => !cursors.current.has(id))
      .map((span) => ({ parentId: span.span_id, cursor: undefined })),
  ];

  const selected = async (query: string): Promise<readonly Span[]> => {
    const { signal } = ending.current;
    const { spans } = await call<SpanPage>(`${path}/spans?limit=${PAGE}&${query}`, { signal });
    return signal.aborted ? [] : spans;
  };

  const reveal = async (spanId: string): Promise<readonly string[]> => {
    const spans = await selected(`select=path&parent_span_id=${spanId}`);
    const parentIdOf = (i: number): string =>
      i > 0 ? spans[i - 1]!.span_id : spans[0]!.parent_span_id === null ? "" : ORPHANS;
    take(spans.map((span, i) => ({ parentId: parentIdOf(i), spans: [span] })));
    return spans.slice(0, -1).map((span) => span.span_id);
  };

  return {
    trace,
    tree,
    error,
    isLoading,
    loadChildren: (parentId) => void read([{ parentId, cursor: cursors.current.get(parentId) }], false),
    loadAll: () => void read(toRead(), true),
    reveal,
    select: async (which) => (await selected(`select=${which}`)).map((span) => span.span_id),
  };
}

import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { emptyTree, withChildren, type Span, type SpanTree } from "./waterfall.ts";

/** A trace without its spans. */
export type Trace = {
  readonly trace_id: string;
  readonly root_name: string;
  readonly status: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly span_count: number;
  readonly error_count: number;
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
      while (wanted.length > 0 && latest.current.spans.size < SPANS_MAX && !own.signal.aborted) {
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
      parent_span_id: parentId,
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
        take([{ parentId: "", spans: detail.spans }]);
        if (detail.root_next_cursor !== null) cursors.current.set("", detail.root_next_cursor);
        await read(toRead(), detail.trace.span_count <= EAGER_MAX);
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
      .filter((span) => span.child_count > 0 && !latest.current.children.has(span.span_id))
      .map((span) => ({ parentId: span.span_id, cursor: undefined })),
  ];

  return {
    trace,
    tree,
    error,
    isLoading,
    loadChildren: (parentId) => void read([{ parentId, cursor: cursors.current.get(parentId) }], false),
    loadAll: () => void read(toRead(), true),
  };
}

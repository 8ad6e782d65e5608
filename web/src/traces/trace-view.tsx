import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { runAddress } from "../app/addresses.ts";
import { useKeys } from "../app/keys.ts";
import { currentLocation, Link, setQuery } from "../app/location.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { ErrorNote } from "../ui/page-states.tsx";
import { counted, countWords } from "../ui/words.ts";
import { Spinner } from "../ui/spinner.tsx";
import { TextField } from "../ui/field.tsx";
import { attempt } from "../ui/fault.ts";
import { SpanPanel } from "./span-panel.tsx";
import { useTrace } from "./use-trace.ts";
import { WaterfallGrid } from "./waterfall-grid.tsx";
import { rangeOf, spanDurationWords, spanRows, spanStatusKind } from "./waterfall.ts";

/** A trace as a waterfall of its spans, with the content of a chosen one next to it. */
export function TraceView({
  runId,
  traceId,
  onClose,
  isAside = false,
}: {
  readonly runId: string;
  readonly traceId: string;
  readonly onClose: () => void;
  /** Next to the list, where it says of which run it is. */
  readonly isAside?: boolean;
}) {
  const { trace, tree, error, isLoading, loadChildren, loadAll, reveal, select } = useTrace(runId, traceId);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const { query } = currentLocation.value;
  const search = query.get("spans") ?? "";
  const spanId = query.get("span");
  const counts = { roots: trace?.root_count ?? 0, orphans: trace?.orphan_count ?? 0 };
  const rows = useMemo(() => spanRows(tree, { closed, search, counts }), [tree, closed, search, trace]);
  const chosen = spanId === null ? undefined : tree.spans.get(spanId);
  // Next to the list a trace is read without a further press.
  const root = isAside ? tree.spans.get(tree.children.get("")?.[0] ?? "") : undefined;
  const shownSpan = chosen ?? root;
  const range = useMemo(() => (trace === undefined ? undefined : rangeOf(trace, Date.now())), [trace]);
  const toggle = (id: string): void => {
    if (!tree.children.has(id)) return loadChildren(id);
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    return setClosed(next);
  };
  const collapseAll = (): void =>
    setClosed(new Set([...tree.spans.values()].filter((span) => span.child_count > 0).map((span) => span.span_id)));
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (spanId === null || trace === undefined || shown.current === spanId) return;
    shown.current = spanId;
    // A span that was not loaded, as of a copied address, or that is below a closed one.
    if (rows.some((row) => row.kind === "span" && row.span.span_id === spanId)) return;
    void attempt(async () => {
      const above = new Set(await reveal(spanId));
      setClosed((before) => new Set([...before].filter((id) => !above.has(id))));
    });
  }, [spanId, trace]);
  /** The spans that a button goes through, one with each press. */
  const lists = useRef(new Map<"failed" | "slowest", readonly string[]>());
  const goTo = (which: "failed" | "slowest"): void =>
    void attempt(async () => {
      const ids = lists.current.get(which) ?? (await select(which));
      lists.current.set(which, ids);
      const next = ids[(ids.indexOf(spanId ?? "") + 1) % ids.length];
      if (next !== undefined) setQuery({ span: next, spans: undefined }, { replace: true });
    });
  const closeSpan = (): void => setQuery({ span: undefined }, { replace: true });
  useKeys(
    { Escape: { label: "Close the span, then the trace", run: () => (spanId === null ? onClose() : closeSpan()) } },
    { label: "Trace" },
  );
  const isPartial = trace !== undefined && tree.spans.size < trace.span_count;
  return (
    <div class="tm-stack">
      <div class="tm-tools">
        {isAside ? (
          <IconButton icon="close" label="Close the trace" size="s" onClick={onClose} />
        ) : (
          <Button size="s" icon="chevron-left" onClick={onClose}>
            All traces
          </Button>
        )}
        {trace !== undefined && (
          <>
            <h2>{trace.root_name}</h2>
            <Badge kind={spanStatusKind(trace.status)}>{trace.status}</Badge>
            <span class="tm-muted">
              {trace.duration_ms === null ? "running" : spanDurationWords(trace.duration_ms)},{" "}
              {counted(trace.span_count, "span")}
              {trace.error_count > 0 && `, ${counted(trace.error_count, "error")}`}
            </span>
            {isAside && (
              <Link href={runAddress(trace.project, runId)} class="tm-break">
                {trace.run_name}
              </Link>
            )}
            <CopyButton text={traceId} label="Copy the id of the trace" />
            {trace.error_count > 0 && (
              <Button size="s" icon="warning" title="Press again for the next one" onClick={() => goTo("failed")}>
                Failed span
              </Button>
            )}
            <Button
              size="s"
              icon="clock"
              title="The longest span without children; press again for the next one"
              onClick={() => goTo("slowest")}
            >
              Slowest span
            </Button>
          </>
        )}
      </div>
      <div class="tm-tools">
        <TextField
          label="Search spans"
          hideLabel
          type="search"
          placeholder="Search names, kinds, errors"
          value={search}
          onInput={(text) => setQuery({ spans: text }, { replace: true })}
        />
        <Button size="s" kind="quiet" icon="collapse" onClick={collapseAll}>
          Collapse all
        </Button>
        <Button size="s" kind="quiet" icon="expand" onClick={() => setClosed(new Set())}>
          Expand all
        </Button>
        {isPartial && !isLoading && (
          <Button size="s" onClick={loadAll}>
            {`Load all ${countWords(trace.span_count)} spans`}
          </Button>
        )}
        {isLoading && (
          <span class="tm-muted" role="status">
            <Spinner /> {counted(tree.spans.size, "span")} loaded
          </span>
        )}
      </div>
      <ErrorNote error={error} />
      {isPartial && search !== "" && !isLoading && (
        <p class="tm-muted">The search looks at the {countWords(tree.spans.size)} spans that are loaded.</p>
      )}
      {search !== "" && rows.length === 0 && <p class="tm-muted">No span matches “{search}”.</p>}
      <div class={shownSpan === undefined ? "tm-trace" : "tm-trace tm-trace-split"}>
        {range !== undefined && (
          <WaterfallGrid
            rows={rows}
            range={range}
            chosenId={spanId}
            onChoose={(id) => setQuery({ span: id }, { replace: true })}
            onToggle={toggle}
            onMore={loadChildren}
          />
        )}
        {shownSpan !== undefined && (
          <SpanPanel span={shownSpan} onClose={chosen === undefined ? undefined : closeSpan} />
        )}
      </div>
    </div>
  );
}

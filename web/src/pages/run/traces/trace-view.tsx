import { useMemo, useState } from "preact/hooks";
import type { RunDetail } from "../../../api/run-types.ts";
import { currentLocation, setQuery } from "../../../app/location.tsx";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { absoluteTime, counted, countWords } from "../../../ui/words.ts";
import { Spinner } from "../../../ui/spinner.tsx";
import { TextField } from "../../../ui/field.tsx";
import { valueText, type ExactValue } from "../../../api/exact-json.ts";
import { configRows, isBranch } from "../config/config-rows.ts";
import { useTrace } from "./use-trace.ts";
import { WaterfallGrid } from "./waterfall-grid.tsx";
import { rangeOf, spanDurationWords, spanRows, spanStatusKind, type Span } from "./waterfall.ts";

/** A trace as a waterfall of its spans, with the content of a chosen one next to it. */
export function TraceView({ run, traceId }: { readonly run: RunDetail; readonly traceId: string }) {
  const { trace, tree, error, isLoading, loadChildren, loadAll } = useTrace(run.id, traceId);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const { query } = currentLocation.value;
  const search = query.get("find") ?? "";
  const spanId = query.get("span");
  const rows = useMemo(() => spanRows(tree, { closed, search }), [tree, closed, search]);
  const chosen = spanId === null ? undefined : tree.spans.get(spanId);
  const range = useMemo(() => (trace === undefined ? undefined : rangeOf(trace, Date.now())), [trace]);
  const toggle = (id: string): void => {
    if (!tree.children.has(id)) return loadChildren(id);
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    return setClosed(next);
  };
  const collapseAll = (): void =>
    setClosed(new Set([...tree.spans.values()].filter((span) => span.child_count > 0).map((span) => span.span_id)));
  const isPartial = trace !== undefined && tree.spans.size < trace.span_count;
  return (
    <div class="tm-stack">
      <div class="tm-tools">
        <Button
          size="s"
          icon="chevron-left"
          onClick={() => setQuery({ trace: undefined, span: undefined, find: undefined })}
        >
          All traces
        </Button>
        {trace !== undefined && (
          <>
            <h2>{trace.root_name}</h2>
            <Badge kind={spanStatusKind(trace.status)}>{trace.status}</Badge>
            <span class="tm-muted">
              {trace.duration_ms === null ? "running" : spanDurationWords(trace.duration_ms)},{" "}
              {counted(trace.span_count, "span")}
              {trace.error_count > 0 && `, ${counted(trace.error_count, "error")}`}
            </span>
            <CopyButton text={traceId} label="Copy the id of the trace" />
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
          onInput={(text) => setQuery({ find: text }, { replace: true })}
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
      <div class={chosen === undefined ? "tm-trace" : "tm-trace tm-trace-split"}>
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
        {chosen !== undefined && (
          <SpanPanel span={chosen} onClose={() => setQuery({ span: undefined }, { replace: true })} />
        )}
      </div>
    </div>
  );
}

type Group = { readonly [key: string]: ExactValue };

/** The content of a span: its times, attributes, metrics, and its inputs and outputs if they were captured. */
function SpanPanel({ span, onClose }: { readonly span: Span; readonly onClose: () => void }) {
  return (
    <aside class="tm-panel tm-span" aria-label={`Span ${span.name}`}>
      <header>
        <h3>{span.name}</h3>
        <Badge kind={spanStatusKind(span.status)}>{span.status}</Badge>
        <IconButton icon="close" label="Close the span" size="s" onClick={onClose} />
      </header>
      <dl class="tm-pairs">
        <Pair name="Kind" value={span.kind} />
        <Pair name="Started" value={absoluteTime(Date.parse(span.started_at))} />
        <Pair name="Duration" value={span.duration_ms === null ? "running" : spanDurationWords(span.duration_ms)} />
        {span.step !== null && <Pair name="Step" value={String(span.step)} />}
        {span.rank !== null && <Pair name="Rank" value={String(span.rank)} />}
        <div>
          <dt>Id</dt>
          <dd>
            <code>{span.span_id}</code> <CopyButton text={span.span_id} label="Copy the id of the span" />
          </dd>
        </div>
      </dl>
      {span.error_type !== null && (
        <Text name={`Error: ${span.error_type}`} text={span.error_preview || "No message was captured."} />
      )}
      <Values name="Metrics" group={span.metrics as Group} />
      <Values name="Attributes" group={span.attributes as Group} />
      {span.input_preview !== "" && <Text name="Input" text={span.input_preview} />}
      {span.output_preview !== "" && <Text name="Output" text={span.output_preview} />}
      {span.truncated && <p class="tm-muted">Some of it was too long and was cut.</p>}
    </aside>
  );
}

function Pair({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Values({ name, group }: { readonly name: string; readonly group: Group }) {
  const rows = configRows(group).filter((row) => !isBranch(row));
  if (rows.length === 0) return null;
  return (
    <>
      <h4>{name}</h4>
      <dl class="tm-pairs">
        {rows.slice(0, 200).map((row) => (
          <Pair key={JSON.stringify(row.path)} name={row.path.join(".")} value={valueText(row.value)} />
        ))}
      </dl>
    </>
  );
}

function Text({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <>
      <h4>
        {name} <CopyButton text={text} label={`Copy: ${name}`} />
      </h4>
      <pre class="tm-preview-text" tabIndex={0} role="region" aria-label={name}>
        {text}
      </pre>
    </>
  );
}

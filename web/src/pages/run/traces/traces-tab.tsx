import "../../shared-chunk.ts";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { currentLocation, setQuery } from "../../../app/location.tsx";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { countWords } from "../../../ui/words.ts";
import { Select, TextField } from "../../../ui/field.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import { Snippet } from "../../../ui/copy-button.tsx";
import { Time } from "../../../ui/time.tsx";
import type { TabProps } from "../run-actions.ts";
import { spanDurationWords, spanStatusKind } from "./waterfall.ts";
import { TraceView } from "./trace-view.tsx";

type ListedTrace = {
  readonly trace_id: string;
  readonly root_name: string;
  readonly status: string;
  readonly started_at: string;
  readonly duration_ms: number | null;
  readonly span_count: number;
  readonly error_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
  readonly min_step: number | null;
};

type Page = {
  readonly traces: readonly ListedTrace[];
  readonly next_cursor: string | null;
  readonly sorted_count?: number;
};

const SORTS = ["started", "duration", "tokens", "cost"] as const;
type Sort = (typeof SORTS)[number];

const STATUSES = [
  { value: "", label: "Any status" },
  { value: "ok", label: "OK" },
  { value: "error", label: "Error" },
  { value: "running", label: "Running" },
  { value: "cancelled", label: "Cancelled" },
  { value: "interrupted", label: "Interrupted" },
] as const;

/** The traces of a run, or one of them as a waterfall. */
export function TracesTab(props: TabProps) {
  const traceId = currentLocation.value.query.get("trace");
  if (traceId !== null) return <TraceView run={props.run} traceId={traceId} />;
  return <TraceList {...props} />;
}

function TraceList({ run, changes }: TabProps) {
  const { query } = currentLocation.value;
  const [search, status] = [query.get("find") ?? "", query.get("status") ?? ""];
  const sort: Sort = SORTS.find((one) => one === query.get("sort")) ?? "started";
  const [traces, setTraces] = useState<readonly ListedTrace[]>();
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<unknown>();
  const [sorted, setSorted] = useState<number>();
  const read = async (from: string | null, signal?: AbortSignal): Promise<void> => {
    const parameters = new URLSearchParams({
      run_id: run.id,
      limit: "100",
      ...(search.trim() === "" ? {} : { q: search }),
      ...(status === "" ? {} : { status }),
      ...(sort === "started" ? {} : { sort }),
    });
    if (from !== null) parameters.set("cursor", from);
    try {
      const page = await call<Page>(`/api/traces?${parameters.toString()}`, { signal });
      setTraces((before) => [...(from === null ? [] : (before ?? [])), ...page.traces]);
      setCursor(page.next_cursor);
      setSorted(page.sorted_count);
      setError(undefined);
    } catch (fault) {
      if (signal?.aborted !== true) setError(fault);
    }
  };
  useEffect(() => {
    const ending = new AbortController();
    const timer = setTimeout(() => void read(null, ending.signal), 150);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [run.id, search, status, sort, changes.objects]);
  if (traces?.length === 0 && search === "" && status === "") {
    return (
      <EmptyState title="No traces" icon="list">
        <p>Trace rollouts, model calls and tools, and see where the time goes. OpenTelemetry works as well.</p>
        <Snippet
          label="Trace a rollout"
          text={
            'with run.trace("rollout", kind="rollout"):\n    with run.start_span("model", kind="model"):\n        ...'
          }
        />
      </EmptyState>
    );
  }
  return (
    <div class="tm-stack">
      <div class="tm-tools">
        <TextField
          label="Search traces"
          hideLabel
          type="search"
          placeholder="Search names, threads, ids"
          value={search}
          onInput={(text) => setQuery({ find: text }, { replace: true })}
        />
        <Select
          label="Status"
          hideLabel
          value={status}
          options={STATUSES}
          onChange={(value) => setQuery({ status: value })}
        />
      </div>
      <ErrorNote error={error} onRetry={() => void read(null)} />
      {traces === undefined && error === undefined && <Skeleton lines={6} height="24px" />}
      {traces !== undefined && traces.length === 0 && <p class="tm-muted">No trace matches.</p>}
      {traces !== undefined && traces.length > 0 && (
        <div class="tm-scroll-x" role="region" aria-label="Traces" tabIndex={0}>
          <table class="tm-list-table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Status</th>
                <SortHead of="started" sort={sort} label="Started" />
                <SortHead of="duration" sort={sort} label="Duration" isNumber />
                <th scope="col" class="tm-number">
                  Spans
                </th>
                <th scope="col" class="tm-number">
                  Errors
                </th>
                <SortHead of="tokens" sort={sort} label="Tokens in, out" isNumber />
                <SortHead of="cost" sort={sort} label="Cost" isNumber />
                <th scope="col" class="tm-number">
                  Step
                </th>
              </tr>
            </thead>
            <tbody>
              {traces.map((trace) => (
                <tr key={trace.trace_id}>
                  <th scope="row">
                    <Button kind="quiet" size="s" onClick={() => setQuery({ trace: trace.trace_id, find: undefined })}>
                      {trace.root_name}
                    </Button>
                  </th>
                  <td>
                    <Badge kind={spanStatusKind(trace.status)}>{trace.status}</Badge>
                  </td>
                  <td>
                    <Time at={trace.started_at} />
                  </td>
                  <td class="tm-number">{trace.duration_ms === null ? "–" : spanDurationWords(trace.duration_ms)}</td>
                  <td class="tm-number">{countWords(trace.span_count)}</td>
                  <td class="tm-number">{countWords(trace.error_count)}</td>
                  <td class="tm-number">{`${countWords(trace.input_tokens)}, ${countWords(trace.output_tokens)}`}</td>
                  <td class="tm-number">{trace.cost_usd === null ? "–" : costWords(trace.cost_usd)}</td>
                  <td class="tm-number">{trace.min_step ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {sorted !== undefined && sorted >= SORTED_MAX && (
        <p class="tm-muted">{`These are the highest of the newest ${countWords(sorted)} traces.`}</p>
      )}
      {cursor !== null && <Button onClick={() => void read(cursor)}>Show more traces</Button>}
    </div>
  );
}

/** Traces among which the server finds the highest. */
const SORTED_MAX = 10_000;

/** The heading of a column by which traces can be sorted, the highest first. */
function SortHead({
  of,
  sort,
  label,
  isNumber = false,
}: {
  readonly of: Sort;
  readonly sort: Sort;
  readonly label: string;
  readonly isNumber?: boolean;
}) {
  const isSorted = of === sort;
  return (
    <th
      scope="col"
      class={isNumber ? "tm-number tm-sort-head" : "tm-sort-head"}
      {...(isSorted ? { "aria-sort": "descending" as const } : {})}
    >
      <Button
        kind="quiet"
        size="s"
        icon={isSorted ? "arrow-down" : undefined}
        onClick={() => setQuery({ sort: of === "started" ? undefined : of }, { replace: true })}
      >
        {label}
      </Button>
    </th>
  );
}

const costWords = (usd: number): string => `$${usd >= 0.01 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)))}`;

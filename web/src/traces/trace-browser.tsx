import type { ComponentChildren } from "preact";
import { currentLocation, setQuery } from "../app/location.tsx";
import type { GridHandle } from "../table/grid-types.ts";
import { EmptyState, ErrorNote } from "../ui/page-states.tsx";
import { Select, TextField } from "../ui/field.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { Snippet } from "../ui/copy-button.tsx";
import { countWords } from "../ui/words.ts";
import { DAYS, isFiltered, type ListedTrace, type TraceFilters } from "./trace-list.ts";
import { TraceTable } from "./trace-table.tsx";
import type { TraceList } from "./use-trace-list.ts";

const STATUSES = [
  { value: "", label: "Any status" },
  { value: "ok", label: "OK" },
  { value: "error", label: "Error" },
  { value: "running", label: "Running" },
  { value: "cancelled", label: "Cancelled" },
  { value: "interrupted", label: "Interrupted" },
] as const;

/** Kinds of spans that a list can be narrowed to. */
const KINDS = [
  "rollout",
  "env_step",
  "model",
  "tool",
  "retrieval",
  "reward",
  "evaluator",
  "dataset",
  "preprocessing",
  "postprocessing",
  "checkpoint",
  "artifact",
  "system",
  "custom",
];

/** Traces among which the server finds the highest. */
const SORTED_MAX = 10_000;

/** A list of traces with its search and filters, which the address holds. */
export function TraceBrowser({
  list: { traces, hasMore, sorted, error, more, reload },
  filters,
  openKey,
  addressOf,
  hasRuns = false,
  handle,
  children,
}: {
  readonly list: TraceList;
  readonly filters: TraceFilters;
  readonly openKey?: string | undefined;
  readonly addressOf: (trace: ListedTrace) => string;
  readonly hasRuns?: boolean;
  readonly handle?: (handle: GridHandle) => void;
  /** Further filters. */
  readonly children?: ComponentChildren;
}) {
  if (traces?.length === 0 && !isFiltered(filters) && error === undefined) return <NoTraces />;
  const { find, status, kind, days, sort } = filters;
  return (
    <div class="tm-traces">
      <div class="tm-tools">
        <TextField
          label="Search traces"
          hideLabel
          type="search"
          placeholder="Search names, threads, ids"
          value={currentLocation.value.query.get("find") ?? find}
          onInput={(text) => setQuery({ find: text }, { replace: true })}
        />
        <Select
          label="Status"
          hideLabel
          value={status}
          options={STATUSES}
          onChange={(value) => setQuery({ status: value })}
        />
        <Select
          label="Kind of span"
          hideLabel
          value={kind}
          options={[
            { value: "", label: "Any kind of span" },
            ...KINDS.map((value) => ({ value, label: `With ${value.replaceAll("_", " ")}` })),
          ]}
          onChange={(value) => setQuery({ kind: value })}
        />
        <Select
          label="Time"
          hideLabel
          value={days}
          options={[
            { value: "", label: "All time" },
            ...DAYS.map((value) => ({ value, label: value === "1" ? "Last 24 hours" : `Last ${value} days` })),
          ]}
          onChange={(value) => setQuery({ days: value })}
        />
        {children}
      </div>
      <ErrorNote error={error} onRetry={reload} />
      {traces === undefined && error === undefined && <Skeleton lines={6} height="24px" />}
      {traces?.length === 0 && error === undefined && <p class="tm-muted">No trace matches.</p>}
      {traces !== undefined && traces.length > 0 && (
        <div class="tm-traces-grid" style={{ "--rows": traces.length + (hasMore ? 1 : 0) }}>
          <TraceTable
            {...{ traces, hasMore, sort, openKey, addressOf, hasRuns }}
            onMore={more}
            onSort={(column) => setQuery({ sort: column === "started" ? undefined : column }, { replace: true })}
            {...(handle === undefined ? {} : { handle })}
          />
        </div>
      )}
      {sorted !== undefined && sorted >= SORTED_MAX && (
        <p class="tm-muted">{`These are the highest of the newest ${countWords(sorted)} traces.`}</p>
      )}
    </div>
  );
}

function NoTraces() {
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

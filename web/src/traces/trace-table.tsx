import { useCallback, useMemo, useState } from "preact/hooks";
import { runAddress } from "../app/addresses.ts";
import { currentLocation, Link, navigate } from "../app/location.tsx";
import { Grid } from "../table/grid.tsx";
import type { GridColumn, GridHandle } from "../table/grid-types.ts";
import { Badge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { countWords } from "../ui/words.ts";
import { costWords, traceKey, type ListedTrace, type TraceFilters } from "./trace-list.ts";
import { spanDurationWords, spanStatusKind } from "./waterfall.ts";

/** Rows before the end of the list at which more of it is read. */
const AHEAD_ROWS = 30;

const text = (words: string, full = words) => (
  <span class="tm-grid-text" title={full}>
    {words}
  </span>
);

/** The columns by their ids, which are those of `sort` where a list can be sorted by them. */
const COLUMNS: readonly GridColumn<ListedTrace>[] = [
  {
    id: "status",
    label: "Status",
    width: 104,
    cell: ({ status }) => <Badge kind={spanStatusKind(status)}>{status}</Badge>,
  },
  { id: "started", label: "Started", width: 110, sortable: true, cell: ({ started_at: at }) => <Time at={at} /> },
  {
    id: "duration",
    label: "Duration",
    width: 110,
    align: "end",
    sortable: true,
    cell: ({ duration_ms: ms }) => text(ms === null ? "–" : spanDurationWords(ms)),
  },
  { id: "spans", label: "Spans", width: 80, align: "end", cell: ({ span_count: spans }) => text(countWords(spans)) },
  {
    id: "errors",
    label: "Errors",
    width: 80,
    align: "end",
    cell: ({ error_count: errors }) => text(countWords(errors)),
  },
  {
    id: "tokens",
    label: "Tokens in, out",
    width: 140,
    align: "end",
    sortable: true,
    cell: ({ input_tokens: input, output_tokens: output }) => text(`${countWords(input)}, ${countWords(output)}`),
  },
  {
    id: "cost",
    label: "Cost",
    width: 90,
    align: "end",
    sortable: true,
    cell: ({ cost_usd: usd }) => text(usd === null ? "–" : costWords(usd), usd === null ? "" : `$${usd}`),
  },
  {
    id: "step",
    label: "Step",
    width: 80,
    align: "end",
    cell: ({ min_step: step }) => text(step === null ? "–" : countWords(step)),
  },
];

/** A list of traces of any length, which is read as it is scrolled. Its names lead to `addressOf` them. */
export function TraceTable({
  traces,
  hasMore,
  onMore,
  sort,
  onSort,
  openKey,
  addressOf,
  hasRuns,
  handle,
}: {
  readonly traces: readonly ListedTrace[];
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly sort: TraceFilters["sort"];
  readonly onSort: (sort: string) => void;
  /** The trace that is open, by its `traceKey`. */
  readonly openKey: string | undefined;
  readonly addressOf: (trace: ListedTrace) => string;
  /** Whether the list has traces of several runs. */
  readonly hasRuns: boolean;
  readonly handle?: (handle: GridHandle) => void;
}) {
  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({});
  const { query } = currentLocation.value;
  const columns = useMemo((): readonly GridColumn<ListedTrace>[] => {
    const name: GridColumn<ListedTrace> = {
      id: "name",
      label: "Name",
      width: 220,
      pinned: true,
      isRowHeader: true,
      cell: (trace) => (
        <Link class="tm-grid-text tm-run-link" href={addressOf(trace)} title={trace.root_name} tabIndex={-1}>
          {trace.root_name}
        </Link>
      ),
    };
    const run: GridColumn<ListedTrace> = {
      id: "run",
      label: "Run",
      width: 180,
      cell: ({ project, run_id: id, run_name: label }) => (
        <Link class="tm-grid-text tm-run-link" href={runAddress(project, id, "traces")} title={label} tabIndex={-1}>
          {label}
        </Link>
      ),
    };
    const all = hasRuns ? [name, run, ...COLUMNS] : [name, ...COLUMNS];
    return all.map((column) => ({ ...column, width: widths[column.id] ?? column.width }));
  }, [hasRuns, widths, query.toString()]);
  const onWindow = useCallback(
    ({ end }: { readonly end: number }) => {
      if (hasMore && end >= traces.length - AHEAD_ROWS) onMore();
    },
    [traces, hasMore],
  );
  return (
    <Grid
      label="Traces"
      columns={columns}
      // The row behind the last one says that there are more.
      rows={traces.length + (hasMore ? 1 : 0)}
      rowAt={(index) => traces[index]}
      idOf={traceKey}
      sort={{ column: sort, direction: "desc" }}
      onSort={onSort}
      onResize={(column, width) => setWidths((before) => ({ ...before, [column]: width }))}
      onWindow={onWindow}
      isSelected={(trace) => traceKey(trace) === openKey}
      onOpen={(trace) => navigate(addressOf(trace))}
      {...(handle === undefined ? {} : { handle })}
    />
  );
}

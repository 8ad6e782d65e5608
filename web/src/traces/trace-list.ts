/** A trace as lists have it. */
export type ListedTrace = {
  readonly trace_id: string;
  readonly run_id: string;
  readonly run_name: string;
  readonly project: string;
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

/** A page of a list. `sorted_count`: among how many of the newest traces the highest were found. */
export type TracePage = {
  readonly traces: readonly ListedTrace[];
  readonly next_cursor: string | null;
  readonly sorted_count?: number;
};

/** Whose traces a list shows: those of a run, of a project, or of some of its runs. */
export type TraceScope =
  | { readonly runId: string }
  | { readonly projectId: string; readonly runIds?: readonly string[] | undefined };

/** The figures by which a list is sorted, the highest first. */
const SORTS = ["started", "duration", "tokens", "cost"] as const;

/** What the address chooses of a list. */
export type TraceFilters = {
  /** Words of names, threads and ids. */
  readonly find: string;
  /** A search for runs. */
  readonly q: string;
  readonly status: string;
  /** Traces with a span of this kind. */
  readonly kind: string;
  /** Traces that started in the last days; empty: all. */
  readonly days: string;
  readonly sort: (typeof SORTS)[number];
};

/** The choices of `days`. */
export const DAYS = ["1", "7", "30"] as const;

/** Rows of a page. */
const PAGE_ROWS = 100;

const DAY_MS = 86_400_000;

/** Lists of a project begin a week ago unless they are asked for more. */
const BEGINNING = "1970-01-01T00:00:00Z";

/** Reads the choices from the query of an address. Those of a run are not narrowed by runs. */
export function filtersOf(query: URLSearchParams, scope: TraceScope): TraceFilters {
  const text = (name: string): string => query.get(name)?.trim() ?? "";
  return {
    find: text("find"),
    q: "runId" in scope ? "" : text("q"),
    status: text("status"),
    kind: text("kind"),
    days: DAYS.find((one) => one === query.get("days")) ?? "",
    sort: SORTS.find((one) => one === query.get("sort")) ?? "started",
  };
}

/** Whether the choices leave traces out. */
export const isFiltered = ({ find, q, status, kind, days }: TraceFilters): boolean =>
  [find, q, status, kind, days].some((one) => one !== "");

/** Returns the path of a page of traces, behind a cursor or from the start. */
export function tracesPath(scope: TraceScope, filters: TraceFilters, cursor: string | null, nowMs: number): string {
  const { find, status, kind, days, sort } = filters;
  const from = days !== "" ? new Date(nowMs - Number(days) * DAY_MS).toISOString() : "runId" in scope ? "" : BEGINNING;
  const wanted = {
    ...("runId" in scope ? { run_id: scope.runId } : { project_id: scope.projectId }),
    run_ids: "runId" in scope ? "" : (scope.runIds ?? []).join(),
    q: find,
    status,
    kind,
    from,
    sort: sort === "started" ? "" : sort,
    limit: String(PAGE_ROWS),
    cursor: cursor ?? "",
  };
  return `/api/traces?${new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== "")).toString()}`;
}

/** Returns what tells traces apart: those of several runs may have one id. */
export const traceKey = ({ trace_id: id, run_id: runId }: Pick<ListedTrace, "trace_id" | "run_id">): string =>
  `${runId}/${id}`;

/**
 * Returns a list by start whose first page was read again: known traces stay behind the last one of that page, and those that it replaces are those it
 * has now.
 */
export function withFirstPage(
  known: readonly ListedTrace[],
  { traces: fresh, next_cursor: cursor }: TracePage,
): readonly ListedTrace[] {
  const last = fresh.at(-1);
  if (last === undefined || cursor === null) return fresh;
  const keys = new Set(fresh.map(traceKey));
  return [...fresh, ...known.filter((trace) => isBefore(trace, last) && !keys.has(traceKey(trace)))];
}

function isBefore(trace: ListedTrace, last: ListedTrace): boolean {
  const [one, other] = [Date.parse(trace.started_at), Date.parse(last.started_at)];
  return one === other ? trace.trace_id < last.trace_id : one < other;
}

/** Writes a cost in dollars: cents, or two digits of less than one. */
export const costWords = (usd: number): string =>
  `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)))}`;

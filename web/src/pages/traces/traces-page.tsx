import "../shared-chunk.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { watchProject } from "../../api/changes.ts";
import { useQuery } from "../../api/use-answer.ts";
import { usePaced } from "../../api/use-changes.ts";
import { useProjectId } from "../../api/use-project-id.ts";
import { useKeys } from "../../app/keys.ts";
import { addressWith, currentLocation, navigate, setQuery, useTitle } from "../../app/location.tsx";
import type { GridHandle } from "../../table/grid-types.ts";
import { filtersOf, traceKey, type ListedTrace } from "../../traces/trace-list.ts";
import { TraceBrowser } from "../../traces/trace-browser.tsx";
import { TraceView } from "../../traces/trace-view.tsx";
import { useTraceList } from "../../traces/use-trace-list.ts";
import { faultOf } from "../../ui/fault.ts";
import { TextField } from "../../ui/field.tsx";
import { useSettled } from "../../ui/use-settled.ts";
import { counted, countWords } from "../../ui/words.ts";
import { NoProject } from "../project/no-project.tsx";
import { runsPath, type RunsPage } from "../project/runs/shown-runs.ts";
import { classes } from "../../ui/class-names.ts";
import { ErrorNote } from "../../ui/page-states.tsx";
import "./traces-page.css";

/** Milliseconds between two reads of the list while runs of the project log. */
const AGAIN_MS = 3000;

/** The traces of all runs of a project, and one of them next to the list. */
export function TracesPage({ project }: { readonly project: string }) {
  useTitle("Traces", project);
  const { projectId, error, reload } = useProjectId(project);
  if (projectId === null) return <NoProject />;
  return (
    <div class="tm-traces-page" aria-busy={projectId === undefined && error === undefined}>
      <h1 class="tm-hidden">Traces of {project}</h1>
      <ErrorNote error={error} onRetry={reload} />
      {projectId !== undefined && <ProjectTraces key={projectId} projectId={projectId} />}
    </div>
  );
}

/** The changes of the address that open a trace next to the list. */
const opening = ({ trace_id: trace, run_id: run }: ListedTrace) => ({ trace, run, span: undefined, spans: undefined });

const CLOSED = { trace: undefined, run: undefined, span: undefined, spans: undefined };

function ProjectTraces({ projectId }: { readonly projectId: string }) {
  const { query } = currentLocation.value;
  const scope = { projectId };
  const filters = filtersOf(query, scope);
  const search = useRunSearch(projectId, filters.q);
  const version = useLogged(projectId);
  const isNone = search.ids?.length === 0;
  const read = useTraceList({ ...scope, runIds: search.ids }, filters, version, search.isReady && !isNone);
  const list = isNone ? { ...read, ...NOTHING } : read;
  const grid = useRef<GridHandle | undefined>(undefined);
  const [traceId, runId] = [query.get("trace"), query.get("run")];
  const isOpen = traceId !== null && runId !== null;
  const openKey = isOpen ? traceKey({ trace_id: traceId, run_id: runId }) : undefined;
  const move = (by: number) => (): void => {
    const traces = list.traces ?? [];
    // A copied address opens a trace that never had the focus.
    const open = traces.findIndex((trace) => traceKey(trace) === openKey);
    const from = open === -1 ? (grid.current?.current() ?? 0) : open;
    const at = Math.min(Math.max(from + by, 0), traces.length - 1);
    const next = traces[at];
    if (next === undefined) return;
    grid.current?.goTo(at);
    if (isOpen) navigate(addressWith(opening(next)), { replace: true });
  };
  useKeys(
    {
      j: { label: "Next trace", run: move(1) },
      k: { label: "Previous trace", run: move(-1) },
      Enter: {
        label: "Open the trace",
        run: () => {
          const trace = list.traces?.[grid.current?.current() ?? 0];
          if (trace !== undefined) setQuery(opening(trace));
        },
      },
      "/": {
        label: "Search traces",
        run: () => document.querySelector<HTMLElement>(".tm-traces input[type=search]")?.focus(),
      },
    },
    { label: "Traces" },
  );
  return (
    <div class={classes("tm-traces-split", isOpen && "tm-traces-open")}>
      <TraceBrowser
        list={list}
        filters={filters}
        hasRuns
        openKey={openKey}
        addressOf={(trace) => addressWith(opening(trace))}
        handle={(handle) => {
          grid.current = handle;
        }}
      >
        <TextField
          label="Search runs"
          hideLabel
          mono
          type="search"
          placeholder="Of runs: name, config.lr<0.1"
          value={query.get("q") ?? ""}
          error={search.fault}
          onInput={(text) => setQuery({ q: text }, { replace: true })}
        />
        {search.note !== undefined && <span class="tm-muted">{search.note}</span>}
      </TraceBrowser>
      {isOpen && (
        <aside class="tm-trace-aside" aria-label="Trace">
          <TraceView
            key={`${runId}/${traceId}`}
            runId={runId}
            traceId={traceId}
            isAside
            onClose={() => setQuery(CLOSED)}
          />
        </aside>
      )}
    </div>
  );
}

/** The list of no runs. */
const NOTHING = { traces: [], hasMore: false, sorted: undefined, error: undefined };

/** Most runs whose traces one list has (API: `run_ids`). */
const RUNS_MAX = 50;

/** The runs that a search finds; `ids` are undefined without one. */
function useRunSearch(projectId: string, q: string) {
  const wanted = useSettled(q);
  const path = runsPath({ projectId, q: wanted, sortBy: "created", dir: "desc", columns: [] }, 0, RUNS_MAX);
  const { data, error } = useQuery<RunsPage>(wanted === "" ? undefined : path);
  const found = wanted === "" ? undefined : data;
  return {
    ids: found?.runs.map(({ id }) => id),
    isReady: wanted === "" || found !== undefined,
    fault: error === undefined ? undefined : faultOf(error).text,
    note:
      found === undefined || found.total <= RUNS_MAX
        ? undefined
        : `Traces of the newest ${counted(RUNS_MAX, "run")} of ${countWords(found.total)} that match.`,
  };
}

/** How often runs of the project have logged traces or objects since the page opened, not more often than the list is to be read. */
function useLogged(projectId: string): number {
  const [count, setCount] = useState(0);
  useEffect(
    () =>
      watchProject(projectId, ({ kind }) => {
        if (kind === "objects" || kind === "reset") setCount((before) => before + 1);
      }),
    [projectId],
  );
  return usePaced(count, AGAIN_MS);
}

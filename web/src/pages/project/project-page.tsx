import { useMemo, useRef, useState } from "preact/hooks";
import { mayControl } from "../../api/session.ts";
import { runAddress } from "../../app/addresses.ts";
import { useKeys } from "../../app/keys.ts";
import { currentLocation, navigate, setQuery } from "../../app/location.ts";
import { useTitle } from "../../app/title.ts";
import { chartRun, ChartSection, LookPicker, type ChartRun } from "../../charts/index.ts";
import { stateOf as chartStateOf } from "../../charts/state/chart-state.ts";
import { ApiError } from "../../api/client.ts";
import type { GridHandle } from "../../table/grid-types.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { ColumnCharts } from "./by-column/column-charts.tsx";
import type { BulkAction } from "./bulk.ts";
import { ColumnPicker } from "./column-picker.tsx";
import { firstDirection } from "./columns.ts";
import { EmptyProject } from "./empty-project.tsx";
import { GroupTable } from "./groups/group-table.tsx";
import { pinnedAndShownIds, runsQuery, pinIdsOf, PINS_MAX } from "./needed-first.ts";
import type { TableRun } from "./run-row.ts";
import { RunTable } from "./run-table.tsx";
import { isShown, LINES_MAX, toggled, withShown } from "./shown-runs.ts";
import { Split } from "./split.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useIsNarrow } from "./use-is-narrow.ts";
import { useProjectId } from "./use-project-id.ts";
import { useRuns, useRunsById } from "./use-runs.ts";
import { useSavedView } from "./use-saved-view.ts";
import { useSelection } from "./use-selection.ts";
import { queryOf, stateOf, type ViewState } from "./view-state.ts";
import "./project-page.css";

/** The runs of a project: the table, which is the legend, next to the charts. */
export function ProjectPage({ project }: { readonly project: string }) {
  useTitle(project);
  const { query } = currentLocation.value;
  const state = useMemo(() => stateOf(query), [query.toString()]);
  const change = (changes: Partial<ViewState>, options?: { readonly replace?: boolean }): void => {
    const { view, ...rest } = queryOf({ ...stateOf(currentLocation.peek().query), ...changes });
    setQuery({ ...rest, view }, options);
  };
  useSavedView(state.view);
  const found = useProjectId(project);
  const projectId = found.id ?? undefined;
  const group = useMemo(() => chartStateOf(query).group, [query.get("group")]);
  const asked = runsQuery(project, state);
  const { pages, version } = useRuns(asked, projectId);
  const pinIds = pinIdsOf(state);
  const apart = pinnedAndShownIds(state);
  const byId = useRunsById(apart, asked, version);
  const pinned = pinIds.flatMap((id) => byId.get(id) ?? []);
  const rowAt = (index: number): TableRun | undefined =>
    index < pinned.length ? pinned[index] : pages.row(index - pinned.length);
  const total = pages.total();
  const { selected, known, select, choose, clear } = useSelection(state.sel, rowAt, (sel) =>
    change({ sel }, { replace: true }),
  );
  // Runs that a copied address selects may be in rows that were never shown.
  const copied = useRunsById(
    useMemo(() => state.sel, [project]),
    asked,
    version,
  );
  const grid = useRef<GridHandle | undefined>(undefined);
  const [pointed, setPointed] = useState<string | undefined>();
  const [ask, setAsk] = useState<BulkAction["kind"] | undefined>();
  const [isPicking, setPicking] = useState(false);
  const [looking, setLooking] = useState<TableRun | undefined>();
  const isNarrow = useIsNarrow();

  const isOn = (run: TableRun, index: number | undefined): boolean => isShown(state, run.id, index);
  const indexOf = (run: TableRun): number | undefined => {
    for (let i = 0; i < state.first; i += 1) if (pages.row(i)?.id === run.id) return i;
    return undefined;
  };
  const showRuns = (ids: readonly string[], isShowing: boolean): void =>
    change(withShown(stateOf(currentLocation.peek().query), ids, isShowing), { replace: true });
  const toggleShown = (run: TableRun): void => showRuns([run.id], !isOn(run, indexOf(run)));
  const onCurrent = (act: (run: TableRun, index: number) => void) => (): void => {
    const index = grid.current?.current() ?? 0;
    const run = rowAt(Math.max(0, index));
    if (run !== undefined) act(run, index);
  };
  const move = (by: number) => (): void => grid.current?.goTo((grid.current.current() ?? 0) + by);
  useKeys(
    {
      j: { label: "Next run", run: move(1) },
      k: { label: "Previous run", run: move(-1) },
      x: { label: "Show or hide its lines", run: onCurrent(toggleShown) },
      "Shift+x": { label: "Select up to here", run: onCurrent((_, index) => select(index, "range")) },
      c: { label: "Change its color", run: onCurrent((run) => setLooking(run)) },
      p: { label: "Pin", run: onCurrent((run) => change({ pin: toggled(state.pin, run.id).slice(-PINS_MAX) })) },
      b: {
        label: "Make it the baseline",
        run: onCurrent((run) => change({ base: state.base === run.id ? undefined : run.id })),
      },
      Enter: { label: "Open the run", run: onCurrent((run) => navigate(runAddress(project, run.id))) },
      g: {
        label: "Group the charts",
        run: () => document.querySelector<HTMLElement>(".tm-chart-controls button[aria-haspopup]")?.click(),
      },
      "/": { label: "Search runs", run: () => document.querySelector<HTMLElement>(".tm-query-input")?.focus() },
      ...(mayControl()
        ? {
            s: {
              label: "Stop the selected runs",
              run: () => {
                if (selected.size === 0) select(Math.max(0, grid.current?.current() ?? 0), "toggle");
                setAsk("stop");
              },
            },
          }
        : {}),
    },
    { label: "Runs" },
  );
  const near = new Map(Array.from({ length: 200 }, (_, i) => rowAt(i)).flatMap((run) => (run ? [[run.id, run]] : [])));
  const selectedRuns = [...selected].flatMap((id) => near.get(id) ?? copied.get(id) ?? known.get(id) ?? []);

  const first = Array.from({ length: state.first }, (_, i) => pages.row(i)).flatMap((run, i) =>
    run !== undefined && isOn(run, i) ? [run] : [],
  );
  const others = apart.flatMap((id) => byId.get(id) ?? []).filter((run) => isOn(run, indexOf(run)));
  const lines = [...new Map([...others, ...first].map((run) => [run.id, run])).values()].slice(0, LINES_MAX);
  const linesName = lines.map(({ id, name, status }) => `${id} ${name} ${status}`).join("\n");
  const chartRuns = useMemo((): ChartRun[] => lines.map(chartRun), [linesName]);
  const error = pages.error();
  const isSearchFault = error instanceof ApiError && error.code?.startsWith("run_search") === true;
  const isEmpty = total === 0 && state.q === "" && error === undefined;

  if (found.id === null) {
    return (
      <EmptyState title="There is no such project" icon="search">
        It may have been deleted, or belong to another organization. <a href="/">Show all projects</a>
      </EmptyState>
    );
  }
  const table = (
    <div class="tm-runs" aria-busy={total === undefined && error === undefined}>
      <ErrorNote error={isSearchFault ? undefined : error} onRetry={pages.refresh} />
      {isSearchFault && total === undefined ? (
        <EmptyState title="The search cannot be read" icon="search">
          What is wrong with it is marked below it. Mend it, or clear it to see all runs.
        </EmptyState>
      ) : total === 0 && state.q !== "" && error === undefined ? (
        <EmptyState title="No run matches" icon="search">
          No run of this project passes the search. Change it, or clear it to see all runs.
        </EmptyState>
      ) : group !== undefined && projectId !== undefined ? (
        <GroupTable
          project={{ id: projectId, name: project }}
          q={state.q}
          cols={state.cols}
          by={group}
          version={version}
          shown={new Set(lines.map(({ id }) => id))}
          onShow={showRuns}
          onSearch={(q) => change({ q })}
        />
      ) : (
        <RunTable
          project={project}
          state={state}
          pages={pages}
          version={version}
          pinned={pinned}
          base={state.base === undefined ? undefined : byId.get(state.base)}
          selected={selected}
          onSelect={select}
          onSort={(column) =>
            change(
              state.sort === column
                ? { dir: state.dir === "asc" ? "desc" : "asc" }
                : { sort: column, dir: firstDirection(column) },
            )
          }
          onResize={(column, width) => change({ widths: { ...state.widths, [column]: width } }, { replace: true })}
          onToggle={toggleShown}
          onLook={setLooking}
          onOpen={(run) => navigate(runAddress(project, run.id))}
          onPoint={(run) => setPointed(run?.id)}
          handle={(handle) => {
            grid.current = handle;
          }}
        />
      )}
    </div>
  );
  const charts = (
    <div class="tm-project-charts">
      <Tabs
        name="charts"
        label="Charts"
        tabs={[
          { id: "steps", label: "Metrics" },
          { id: "columns", label: "Parameters" },
        ]}
        current={state.charts}
        onSelect={(kind) => change({ charts: kind }, { replace: true })}
      />
      <TabPanel name="charts" current={state.charts}>
        {projectId === undefined ? (
          <Skeleton height="220px" />
        ) : state.charts === "steps" ? (
          <ChartSection project={{ id: projectId, name: project }} runs={chartRuns} live highlight={pointed} />
        ) : (
          <ColumnCharts
            project={{ id: projectId, name: project }}
            q={state.q}
            version={version}
            highlight={pointed}
            onHighlight={setPointed}
            onOpen={(id) => navigate(runAddress(project, id))}
            onSelect={choose}
          />
        )}
      </TabPanel>
    </div>
  );
  return (
    <div class="tm-project">
      <Toolbar
        project={project}
        projectId={projectId}
        state={state}
        total={total}
        lines={lines.length}
        error={isSearchFault ? error : undefined}
        onChange={change}
        onPick={() => setPicking(true)}
      />
      <BulkBar
        project={project}
        selected={selectedRuns}
        total={total ?? 0}
        q={state.q}
        ask={ask}
        onAsk={setAsk}
        onClear={clear}
        onDone={() => pages.refresh()}
      />
      <ErrorNote error={found.error} />
      {isEmpty ? (
        <EmptyProject project={project} />
      ) : isNarrow ? (
        <>
          <Tabs
            name="project"
            label="Parts of the project"
            tabs={[
              { id: "table", label: "Table" },
              { id: "charts", label: "Charts" },
            ]}
            current={state.tab}
            onSelect={(tab) => change({ tab }, { replace: true })}
          />
          <TabPanel name="project" current={state.tab}>
            {state.tab === "table" ? table : charts}
          </TabPanel>
        </>
      ) : (
        <Split
          percent={state.split}
          onChange={(split) => change({ split }, { replace: true })}
          start={table}
          end={charts}
        />
      )}
      {looking !== undefined && projectId !== undefined && (
        <LookPicker projectId={projectId} run={looking} onClose={() => setLooking(undefined)} />
      )}
      {isPicking && (
        <ColumnPicker
          projectId={projectId}
          cols={state.cols}
          onChange={(cols) => change({ cols }, { replace: true })}
          onClose={() => setPicking(false)}
        />
      )}
    </div>
  );
}

import { useState } from "preact/hooks";
import { runAddress } from "../../app/addresses.ts";
import { currentLocation, navigate, setQuery } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import type { GridHandle } from "../../table/grid-types.ts";
import type { MenuPlace } from "../../ui/context-menu.tsx";
import { lazy } from "../../app/lazy.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { ChartSection } from "../../charts/index.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { counted, countWords } from "../../ui/words.ts";
import { firstDirection } from "./table/columns.ts";
import { GroupTable } from "./groups/group-table.tsx";
import { withHidden, type TableRun } from "./runs/shown-runs.ts";
import { RUNS_DRAWN_MAX } from "./runs/use-runs.ts";
import { RunTable } from "./table/run-table.tsx";
import type { ProjectRuns } from "./runs/use-project-runs.ts";
import type { View } from "./view/use-view.ts";

type RunsPaneProps = {
  readonly project: string;
  readonly projectId: string | undefined;
  readonly view: View;
  readonly runs: ProjectRuns;
  readonly onLook: (run: TableRun) => void;
  /** Called with the run that the user points at. */
  readonly onPoint: (id: string | undefined) => void;
  /** Called with the run whose menu is asked for. */
  readonly onMenu: (run: TableRun, place: MenuPlace) => void;
  readonly handle: (handle: GridHandle) => void;
};

/** The table of runs, or of groups of them, or why there is none. */
export function RunsPane(props: RunsPaneProps) {
  const { error, isSearchFault, pages, total } = props.runs;
  return (
    <div class="tm-runs" aria-busy={total === undefined && error === undefined}>
      <ErrorNote error={isSearchFault ? undefined : error} onRetry={pages.refresh} />
      <Contents {...props} />
    </div>
  );
}

function Contents({ project, projectId, view, runs, onLook, onPoint, onMenu, handle }: RunsPaneProps) {
  const { state, group, change } = view;
  const { error, isSearchFault, pages, total, version } = runs;
  if (isSearchFault && total === undefined) {
    return (
      <EmptyState title="Invalid search" icon="search">
        Fix the marked part, or clear the search to see all runs.
      </EmptyState>
    );
  }
  if (total === 0 && state.q !== "" && error === undefined) {
    return (
      <EmptyState title="No runs match" icon="search">
        Change the search, or clear it to see all runs.
      </EmptyState>
    );
  }
  if (group !== undefined && projectId !== undefined) {
    return (
      <GroupTable
        project={{ id: projectId, name: project }}
        q={state.q}
        cols={state.cols}
        by={group}
        version={version}
        hidden={new Set(state.hide)}
        onShow={(ids, isOn) => change({ hide: withHidden(state.hide, ids, !isOn) }, { replace: true })}
        onSearch={(q) => change({ q })}
        onSweep={(q) => {
          change({ q, charts: "columns", tab: "charts" });
          setQuery({ group: undefined }, { replace: true });
        }}
      />
    );
  }
  return (
    <RunTable
      project={project}
      state={state}
      pages={pages}
      version={version}
      rows={runs.rows}
      rowAt={runs.rowAt}
      listRowOf={runs.listRowOf}
      pinned={runs.pinned}
      base={runs.base}
      selected={runs.selected}
      isAll={runs.isAll}
      onSelect={runs.select}
      onSort={(column) =>
        change(
          state.sort === column
            ? { dir: state.dir === "asc" ? "desc" : "asc" }
            : { sort: column, dir: firstDirection(column) },
        )
      }
      onResize={(column, width) => change({ widths: { ...state.widths, [column]: width } }, { replace: true })}
      onToggle={runs.toggleShown}
      onLook={onLook}
      onOpen={(run) => navigate(runAddress(project, run.id))}
      onPoint={(run) => onPoint(run?.id)}
      onMenu={onMenu}
      handle={handle}
    />
  );
}

/** Few look at parameters first. */
const ColumnCharts = lazy(async () => (await import("./more-charts.ts")).ColumnCharts, {
  meanwhile: <Skeleton height="220px" />,
});

/** Charts that people add need code that the first view does not. */
const ProjectPanels = lazy(async () => (await import("./more-charts.ts")).ProjectPanels, {
  meanwhile: <Skeleton height="160px" />,
});

/** The charts of a project: metrics over their steps, or runs by their columns. */
export function ChartsPane({
  project,
  projectId,
  view: { state, group, change },
  runs,
  highlight,
  onHighlight,
}: {
  readonly project: string;
  readonly projectId: string | undefined;
  readonly view: View;
  readonly runs: ProjectRuns;
  /** The run whose line or point stands out. */
  readonly highlight: string | undefined;
  readonly onHighlight: (id: string | undefined) => void;
}) {
  const [isAdding, setAdding] = useState(false);
  const hasPanels = isAdding || currentLocation.value.query.has("panels");
  return (
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
          <>
            <Button kind="quiet" size="s" icon="plus" class="tm-add-chart" onClick={() => setAdding(true)}>
              Add chart
            </Button>
            {hasPanels && (
              <ProjectPanels
                project={{ id: projectId, name: project }}
                runs={runs.chartRuns}
                q={state.q}
                group={group}
                version={runs.version}
                highlight={highlight}
                onHighlight={onHighlight}
                isAdding={isAdding}
                onAdded={() => setAdding(false)}
              />
            )}
            <ChartSection
              project={{ id: projectId, name: project }}
              runs={runs.chartRuns}
              note={runs.ungrouped === 0 ? undefined : leftOutWords(runs.ungrouped)}
              live
              highlight={highlight}
            />
          </>
        ) : (
          <ColumnCharts
            project={{ id: projectId, name: project }}
            q={state.q}
            version={runs.version}
            highlight={highlight}
            onHighlight={onHighlight}
            onOpen={(id) => navigate(runAddress(project, id))}
            onSelect={runs.choose}
          />
        )}
      </TabPanel>
    </div>
  );
}

function leftOutWords(left: number): string {
  return `Groups have the newest ${counted(RUNS_DRAWN_MAX, "run")} of ${countWords(RUNS_DRAWN_MAX + left)} that match. Narrow the search to group the others.`;
}

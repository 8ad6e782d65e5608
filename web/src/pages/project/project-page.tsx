import type { FunctionComponent } from "preact";
import { useRef, useState } from "preact/hooks";
import { serverUrl } from "../../api/base-path.ts";
import { useTitle } from "../../app/location.tsx";
import { LookPicker, useVisibleLines } from "../../charts/index.ts";
import type { GridHandle } from "../../table/grid-types.ts";
import type { MenuPlace } from "../../ui/context-menu.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import { useProjectId } from "../../api/use-project-id.ts";
import "./project-page.css";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import type { BulkAction, BulkRun } from "./bulk/bulk.ts";
import { ChartsPane, RunsPane } from "./runs-and-charts.tsx";
import { Panes, type OtherSide } from "./panes.tsx";
import { useRunKeys } from "./run-keys.ts";
import { withShown, type TableRun } from "./runs/shown-runs.ts";
import { useProjectRuns, type ProjectRuns } from "./runs/use-project-runs.ts";
import { RowMenu } from "./table/row-menu.tsx";
import { ColumnPicker } from "./table/column-picker.tsx";
import { NoProject } from "./no-project.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useView } from "./view/use-view.ts";

/** What stands next to the table of runs, on a page of its own. */
export type OtherPane = OtherSide & {
  readonly Pane: FunctionComponent<{ readonly projectId: string; readonly runs: ProjectRuns }>;
};

/** The runs of a project: the table, which is the legend, next to the charts, or to what another page has. */
export function ProjectPage({ project, other }: { readonly project: string; readonly other?: OtherPane }) {
  useTitle(...(other === undefined ? [] : [other.label]), project);
  const { projectId, error, reload } = useProjectId(project);
  if (projectId === null) return <NoProject />;
  if (projectId !== undefined) return <RunsAndCharts key={projectId} {...{ project, projectId, other }} />;
  return (
    <div class="tm-project" aria-busy={error === undefined}>
      <ErrorNote error={error} onRetry={reload} />
    </div>
  );
}

function RunsAndCharts({
  project,
  projectId,
  other,
}: {
  readonly project: string;
  readonly projectId: string;
  readonly other: OtherPane | undefined;
}) {
  const view = useView();
  const { state, change } = view;
  const runs = useProjectRuns(projectId, view);
  // Also while a phone shows the table alone.
  useVisibleLines(projectId, view.group === undefined ? (runs.chartRuns ?? []).map(({ id }) => id) : []);
  const grid = useRef<GridHandle | undefined>(undefined);
  const [pointedId, setPointedId] = useState<string | undefined>();
  const [bulkAction, setBulkAction] = useState<BulkAction["kind"] | undefined>();
  const [isPickingColumns, setPickingColumns] = useState(false);
  const [recolored, setRecolored] = useState<readonly BulkRun[]>([]);
  const [menu, setMenu] = useState<{ readonly run: TableRun; readonly at: MenuPlace } | undefined>();
  const [recoloredRun, ...others] = recolored;
  useRunKeys({
    project,
    view,
    runs,
    grid,
    onLook: setRecolored,
    onAction: setBulkAction,
    onColumns: () => setPickingColumns(true),
  });

  const { error, isSearchFault, total } = runs;
  const isEmpty = total === 0 && state.q === "" && error === undefined;
  return (
    <div class="tm-project">
      <Toolbar
        project={project}
        projectId={projectId}
        state={state}
        total={total}
        lines={runs.chartRuns?.length ?? 0}
        error={isSearchFault ? error : undefined}
        onChange={change}
        onPick={() => setPickingColumns(true)}
      />
      <BulkBar
        project={project}
        projectId={projectId}
        selected={runs.selectedRuns}
        isAll={runs.isAll}
        onAll={() => runs.setAll(true)}
        total={total ?? 0}
        q={state.q}
        action={bulkAction}
        onAction={setBulkAction}
        onClear={runs.clear}
        onDone={runs.pages.refresh}
        onShow={(isOn) => change(withShown(state, [...runs.selected], isOn), { replace: true })}
        onLook={() => setRecolored(runs.selectedRuns)}
      />
      {isEmpty ? (
        <EmptyProject project={project} />
      ) : (
        <Panes
          view={view}
          other={other}
          table={
            <RunsPane
              project={project}
              projectId={projectId}
              view={view}
              runs={runs}
              onLook={(run) => setRecolored([run])}
              onMenu={(run, at) => setMenu({ run, at })}
              onPoint={setPointedId}
              handle={(handle) => {
                grid.current = handle;
              }}
            />
          }
          charts={
            other === undefined ? (
              <ChartsPane
                project={project}
                projectId={projectId}
                view={view}
                runs={runs}
                highlight={pointedId}
                onHighlight={setPointedId}
              />
            ) : (
              <other.Pane projectId={projectId} runs={runs} />
            )
          }
        />
      )}
      {menu !== undefined && (
        <RowMenu
          key={menu.run.id}
          {...{ project, view, runs, ...menu }}
          onLook={setRecolored}
          onAction={setBulkAction}
          onClose={() => setMenu(undefined)}
        />
      )}
      {recoloredRun !== undefined && (
        <LookPicker projectId={projectId} runs={[recoloredRun, ...others]} onClose={() => setRecolored([])} />
      )}
      {isPickingColumns && (
        <ColumnPicker
          projectId={projectId}
          cols={state.cols}
          onChange={(cols) => change({ cols }, { replace: true })}
          onClose={() => setPickingColumns(false)}
        />
      )}
    </div>
  );
}

/** The code to paste so that a project without runs gets its first one. */
function EmptyProject({ project }: { readonly project: string }) {
  const server = serverUrl();
  const body = JSON.stringify({ project, name: "first-run", config: { lr: 0.001 } }).replaceAll("'", String.raw`'\''`);
  const create = `curl -s ${server}/runs -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' \\\n  -d '${body}'`;
  const install = `pip install instantml\nexport INSTANTML_API_BASE_URL=${server} INSTANTML_API_KEY=$API_KEY`;
  const python = [
    "import instantml",
    "",
    `with instantml.init(project=${JSON.stringify(project)}, config={"lr": 0.001}) as run:`,
    "    for step in range(100):",
    '        run.log({"loss": 1 / (step + 1)}, step=step)',
  ].join("\n");
  return (
    <EmptyState title="No runs yet" icon="play">
      <p>Create an API key under Settings and set it as API_KEY. Runs appear here as they start.</p>
      <Snippet label="Install the Python package" text={install} />
      <Snippet label="Python: log a run with a loss" text={python} />
      <Snippet label="Shell: create a run" text={create} />
    </EmptyState>
  );
}

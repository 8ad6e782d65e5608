import { useRef, useState } from "preact/hooks";
import { useTitle } from "../../app/title.ts";
import { LookPicker } from "../../charts/index.ts";
import type { GridHandle } from "../../table/grid-types.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import type { BulkAction } from "./bulk/bulk.ts";
import { ChartsPane } from "./charts-pane.tsx";
import { ColumnPicker } from "./table/column-picker.tsx";
import { EmptyProject } from "./empty-project.tsx";
import { Panes } from "./panes.tsx";
import type { TableRun } from "./runs/run-row.ts";
import { RunsPane } from "./runs-pane.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useProjectId } from "./use-project-id.ts";
import { useProjectRuns } from "./runs/use-project-runs.ts";
import { useRunKeys } from "./use-run-keys.ts";
import { useView } from "./view/use-view.ts";
import "./project-page.css";

/** The runs of a project: the table, which is the legend, next to the charts. */
export function ProjectPage({ project }: { readonly project: string }) {
  useTitle(project);
  const view = useView();
  const { state, change } = view;
  const found = useProjectId(project);
  const projectId = found.id ?? undefined;
  const runs = useProjectRuns(project, projectId, view);
  const grid = useRef<GridHandle | undefined>(undefined);
  const [pointedId, setPointedId] = useState<string | undefined>();
  const [bulkAction, setBulkAction] = useState<BulkAction["kind"] | undefined>();
  const [isPickingColumns, setPickingColumns] = useState(false);
  const [recolored, setRecolored] = useState<TableRun | undefined>();
  useRunKeys({ project, view, runs, grid, onLook: setRecolored, onStop: () => setBulkAction("stop") });

  if (found.id === null) {
    return (
      <EmptyState title="There is no such project" icon="search">
        It may have been deleted, or belong to another organization. <a href="/">Show all projects</a>
      </EmptyState>
    );
  }
  const { error, isSearchFault, total } = runs;
  const isEmpty = total === 0 && state.q === "" && error === undefined;
  return (
    <div class="tm-project">
      <Toolbar
        project={project}
        projectId={projectId}
        state={state}
        total={total}
        lines={runs.chartRuns.length}
        error={isSearchFault ? error : undefined}
        onChange={change}
        onPick={() => setPickingColumns(true)}
      />
      <BulkBar
        project={project}
        selected={runs.selectedRuns}
        total={total ?? 0}
        q={state.q}
        action={bulkAction}
        onAction={setBulkAction}
        onClear={runs.clear}
        onDone={runs.pages.refresh}
      />
      <ErrorNote error={found.error} />
      {isEmpty ? (
        <EmptyProject project={project} />
      ) : (
        <Panes
          view={view}
          table={
            <RunsPane
              project={project}
              projectId={projectId}
              view={view}
              runs={runs}
              onLook={setRecolored}
              onPoint={setPointedId}
              handle={(handle) => {
                grid.current = handle;
              }}
            />
          }
          charts={
            <ChartsPane
              project={project}
              projectId={projectId}
              view={view}
              runs={runs}
              highlight={pointedId}
              onHighlight={setPointedId}
            />
          }
        />
      )}
      {recolored !== undefined && projectId !== undefined && (
        <LookPicker projectId={projectId} run={recolored} onClose={() => setRecolored(undefined)} />
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

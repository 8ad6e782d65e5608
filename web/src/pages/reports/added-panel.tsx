import { useMemo } from "preact/hooks";
import { runAddress } from "../../app/addresses.ts";
import { navigate } from "../../app/location.tsx";
import { useVisibleLines } from "../../charts/index.ts";
import { lineInk } from "../../charts/look/run-look.ts";
import { pageInks } from "../../charts/view/canvas-stage.ts";
import { PanelView } from "../../panels/lazy-pictures.tsx";
import { panelTitle, type RunsPanel } from "../../panels/panel.ts";
import type { GridRun } from "./grid-runs.ts";
import { barsOf, runsOfPanel, type Grid } from "./panels.ts";
import type { Panel } from "./report-types.ts";

/** A chart that people add as they do to a project: bars, or objects that runs logged. */
export function AddedPanel({
  grid,
  panel,
  added,
  runs: all,
  isShared,
}: {
  readonly grid: Grid;
  readonly panel: Panel;
  readonly added: RunsPanel;
  readonly runs: readonly GridRun[];
  readonly isShared: boolean;
}) {
  const runs = useMemo(() => runsOfPanel(grid, panel, all), [grid, panel, all]);
  const { theme } = pageInks.value;
  const looks = runs.map(({ id }) => lineInk(id, theme));
  const bars = useMemo(
    () => (added.type === "bar" ? barsOf(added, runs, (id) => lineInk(id, theme)) : undefined),
    [panel, runs, looks.join()],
  );
  const project = runs[0]?.project;
  useVisibleLines(
    project?.id ?? "",
    runs.map(({ id }) => id),
  );
  const open = (id: string): void => {
    const of = runs.find((one) => one.id === id)?.project;
    if (of !== undefined) navigate(runAddress(of.name, id));
  };
  return (
    <section class="tm-run-panel-view" aria-label={panelTitle(added)}>
      <h3>{panelTitle(added)}</h3>
      {isShared && added.type !== "bar" ? (
        <p class="tm-locked">This chart is shown to people who sign in to this organization.</p>
      ) : (
        <PanelView panel={added} projectId={project?.id ?? ""} runs={runs} bars={bars} onOpen={open} />
      )}
    </section>
  );
}

import { useMemo } from "preact/hooks";
import type { RunDetail } from "../../api/run-types.ts";
import { runAddress } from "../../app/addresses.ts";
import { navigate } from "../../app/location.tsx";
import { ParallelCoordinates } from "../../charts/columns/parallel-coordinates.tsx";
import { Scatter } from "../../charts/columns/scatter.tsx";
import type { Grid } from "./panels.ts";
import type { Panel } from "./report-types.ts";
import { parallelOf, pointsOf, runsOfPanel } from "./run-panels.ts";

/** A panel with a point or a line for each run: a scatter plot or parallel coordinates. */
export function RunPanel({
  grid,
  panel,
  runs: all,
}: {
  readonly grid: Grid;
  readonly panel: Panel;
  readonly runs: readonly RunDetail[];
}) {
  const runs = useMemo(() => runsOfPanel(grid, panel, all), [grid, panel, all]);
  const points = useMemo(() => pointsOf(panel, runs), [panel, runs]);
  const parallel = useMemo(() => parallelOf(panel, runs), [panel, runs]);
  if (panel.type === "parallel_coordinates") {
    return (
      <section class="tm-run-panel-view">
        <h3>Runs by their columns</h3>
        <ParallelCoordinates
          // The brushes belong to these columns.
          key={parallel.columns.map(({ name }) => name).join("\n")}
          {...parallel}
          onSelect={() => undefined}
        />
      </section>
    );
  }
  const open = (id: string): void => {
    const run = runs.find((one) => one.id === id);
    if (run !== undefined) navigate(runAddress(run.project, run.id));
  };
  const [x = "", y = ""] = [panel.x_metric, panel.y_metric];
  return (
    <section class="tm-run-panel-view">
      <h3>{`${y} by ${x}`}</h3>
      <Scatter xLabel={x} yLabel={y} runs={points} onOpen={open} />
    </section>
  );
}

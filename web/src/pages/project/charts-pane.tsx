import { runAddress } from "../../app/addresses.ts";
import { navigate } from "../../app/location.tsx";
import { ChartSection } from "../../charts/index.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { ColumnCharts } from "./by-column/column-charts.tsx";
import type { ProjectRuns } from "./runs/use-project-runs.ts";
import type { View } from "./view/use-view.ts";

/** The charts of a project: metrics over their steps, or runs by their columns. */
export function ChartsPane({
  project,
  projectId,
  view: { state, change },
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
          <ChartSection project={{ id: projectId, name: project }} runs={runs.chartRuns} live highlight={highlight} />
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

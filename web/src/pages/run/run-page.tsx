import { useEffect, useState } from "preact/hooks";
import "../shared-chunk.ts";
import { ApiError } from "../../api/client.ts";
import type { RunDetail } from "../../api/run-types.ts";
import { mayWrite } from "../../api/session.ts";
import { useChanges } from "../../api/use-changes.ts";
import { useQuery } from "../../api/use-answer.ts";
import { projectAddress, runAddress, type RunTab } from "../../app/addresses.ts";
import { useKeys } from "../../app/keys.ts";
import { navigate, useTitle } from "../../app/location.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import "./run-page.css";
import { ChartsTab } from "./charts-tab.tsx";
import { ConfigTab } from "./config/config-tab.tsx";
import { FilesTab } from "./files/files-tab.tsx";
import { RunHeader } from "./header/run-header.tsx";
import { LineageTab } from "./lineage-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { ObjectsTab } from "./objects-tab.tsx";
import { OverviewTab } from "./overview/overview-tab.tsx";
import { RanksTab } from "./ranks/ranks-tab.tsx";
import { RUN_TABS, runTabOf, type TabProps } from "./run-actions.ts";
import { TracesTab } from "./traces/traces-tab.tsx";

const TABS: { readonly [Name in RunTab]: (props: TabProps) => preact.JSX.Element } = {
  overview: OverviewTab,
  charts: ChartsTab,
  logs: LogsTab,
  config: ConfigTab,
  files: FilesTab,
  objects: ObjectsTab,
  ranks: RanksTab,
  traces: TracesTab,
  lineage: LineageTab,
};

/** A run with all that was logged for it. */
export function RunPage({
  project,
  runId,
  tab,
}: {
  readonly project: string;
  readonly runId: string;
  readonly tab?: string | undefined;
}) {
  // The project is known with the first answer; the stream of its changes begins then.
  const [projectId, setProjectId] = useState<string>();
  const changes = useChanges(projectId, runId);
  const read = useQuery<{ run: RunDetail }>(`/runs/${encodeURIComponent(runId)}`, {
    version: changes.run + changes.points + changes.objects,
    exact: true,
  });
  const run = read.data?.run;
  useEffect(() => setProjectId(run?.project_id), [run?.project_id]);
  const current = runTabOf(tab);
  const go = (id: RunTab): void => navigate(runAddress(project, runId, id));
  useTitle(run?.name ?? "Run", project);
  useKeys(
    Object.fromEntries(
      RUN_TABS.map(({ id, label }, i) => [String(i + 1), { label: `Show ${label.toLowerCase()}`, run: () => go(id) }]),
    ),
    { label: "Tabs of the run" },
  );

  if (run === undefined && read.error instanceof ApiError && read.error.status === 404) {
    return (
      <EmptyState title="There is no such run" icon="search">
        It may have been deleted, or belong to another organization.{" "}
        <a href={projectAddress(project)}>Show the runs of {project}</a>
      </EmptyState>
    );
  }
  if (run === undefined) {
    return (
      <div class="tm-run" aria-busy="true">
        <ErrorNote error={read.error} onRetry={read.reload} />
        {read.error === undefined && <RunSkeleton />}
      </div>
    );
  }
  const Tab = TABS[current];
  return (
    <article class="tm-run">
      <RunHeader run={run} reload={read.reload} />
      <ErrorNote error={read.error} onRetry={read.reload} />
      <Tabs name="run" label="Parts of the run" tabs={RUN_TABS} current={current} onSelect={go} />
      <TabPanel name="run" current={current}>
        <Tab key={`${runId}/${current}`} run={run} changes={changes} canWrite={mayWrite()} reload={read.reload} />
      </TabPanel>
    </article>
  );
}

function RunSkeleton() {
  return (
    <>
      <Skeleton width="320px" height="28px" />
      <Skeleton width="560px" height="20px" />
      <Skeleton height="38px" />
      <Skeleton lines={6} height="22px" />
    </>
  );
}

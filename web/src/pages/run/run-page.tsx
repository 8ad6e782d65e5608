import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import type { RunDetail, RunRow } from "../../api/run-types.ts";
import { mayWrite } from "../../api/session.ts";
import { useChanges } from "../../api/use-changes.ts";
import { useQuery } from "../../api/use-answer.ts";
import { projectAddress, runAddress, type RunTab } from "../../app/addresses.ts";
import { useKeys } from "../../app/keys.ts";
import { lazy } from "../../app/lazy.tsx";
import { currentLocation, navigate, setQuery, useTitle } from "../../app/location.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { chartRun, ChartSection, type ChartRun } from "../../charts/index.ts";
import { Checkbox } from "../../ui/field.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import "../shared-chunk.ts";
import "./run-page.css";
import { ConfigTab } from "./config/config-tab.tsx";
import { FilesTab } from "./files/files-tab.tsx";
import { RunHeader } from "./header/run-header.tsx";
import { LineageTab } from "./lineage-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { ObjectsTab } from "./objects-tab.tsx";
import { OverviewTab } from "./overview/overview-tab.tsx";
import { RUN_TABS, runTabOf, type TabProps } from "./run-actions.ts";
import { SystemTab } from "./system-tab.tsx";

/** A tab that few runs need, which is loaded with its first use. */
const lazyTab = (load: () => Promise<FunctionComponent<TabProps>>): FunctionComponent<TabProps> =>
  lazy(load, {
    meanwhile: (
      <div aria-busy="true">
        <Skeleton lines={6} height="22px" />
      </div>
    ),
  });

const TABS: { readonly [Name in RunTab]: FunctionComponent<TabProps> } = {
  overview: OverviewTab,
  charts: ChartsTab,
  system: SystemTab,
  logs: LogsTab,
  config: ConfigTab,
  files: FilesTab,
  objects: ObjectsTab,
  ranks: lazyTab(async () => (await import("./ranks/ranks-tab.tsx")).RanksTab),
  traces: lazyTab(async () => (await import("./traces-tab.tsx")).TracesTab),
  lineage: LineageTab,
};

/** Tabs that a digit opens. */
const KEYED_TABS = 9;

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
  });
  const run = read.data?.run;
  useEffect(() => setProjectId(run?.project_id), [run?.project_id]);
  const current = runTabOf(tab);
  const go = (id: RunTab): void => navigate(runAddress(project, runId, id));
  useTitle(run?.name ?? "Run", project);
  useKeys(
    Object.fromEntries(
      RUN_TABS.slice(0, KEYED_TABS).map(({ id, label }, i) => [
        String(i + 1),
        { label: `Show ${label.toLowerCase()}`, run: () => go(id) },
      ]),
    ),
    { label: "Tabs of the run" },
  );

  if (run === undefined && read.error instanceof ApiError && read.error.status === 404) {
    return (
      <EmptyState title="Run not found" icon="search">
        It may have been deleted, or it belongs to another organization.{" "}
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

/** The metrics of a run; for a fork, optionally with the metrics of its parent run. */
function ChartsTab({ run }: TabProps) {
  const { query } = currentLocation.value;
  const withParent = query.has("parent");
  const isFork = run.parent_run_id !== null;
  const lineage = useQuery<{ parent: RunRow | null }>(
    isFork && (withParent || query.has("lineage")) ? `/api/runs/${run.id}/lineage` : undefined,
  );
  const parent = lineage.data?.parent ?? undefined;
  const runs = useMemo<readonly ChartRun[]>(
    () => [
      { ...chartRun(run), parentId: parent?.id },
      ...(parent !== undefined && withParent ? [chartRun(parent)] : []),
    ],
    [run.id, run.name, run.status, parent?.id, withParent],
  );
  const project = useMemo(() => ({ id: run.project_id, name: run.project }), [run.project_id, run.project]);
  if (run.metric_keys_total === 0 && !isFork) {
    return (
      <EmptyState title="No metrics yet" icon="chart">
        <p>Charts appear here with the first point, without reloading.</p>
        <Snippet label="Log a metric" text={'run.log({"train/loss": 0.42}, step=1)'} />
      </EmptyState>
    );
  }
  return (
    <>
      {isFork && (
        <Checkbox
          label="Show the run that this was forked from"
          checked={withParent}
          onChange={(on) => setQuery({ parent: on ? "1" : undefined }, { replace: true })}
        />
      )}
      <ChartSection project={project} runs={runs} live withoutSystem />
    </>
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

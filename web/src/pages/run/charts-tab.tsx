import { useMemo } from "preact/hooks";
import type { RunRow } from "../../api/run-types.ts";
import { useQuery } from "../../api/use-answer.ts";
import { currentLocation, setQuery } from "../../app/location.tsx";
import { chartRun, ChartSection, type ChartRun } from "../../charts/index.ts";
import { Checkbox } from "../../ui/field.tsx";
import { EmptyState } from "../../ui/page-states.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import type { TabProps } from "./run-actions.ts";

/** The metrics of a run; for a fork, optionally with the metrics of its parent run. */
export function ChartsTab({ run }: TabProps) {
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
      <ChartSection project={project} runs={runs} live />
    </>
  );
}

import { useMemo } from "preact/hooks";
import { chartRun, SystemCharts } from "../../charts/index.ts";
import type { TabProps } from "./run-actions.ts";

/** What the machine of a run did. */
export function SystemTab({ run }: TabProps) {
  const shown = useMemo(() => chartRun(run), [run.id, run.name, run.status]);
  const project = useMemo(() => ({ id: run.project_id, name: run.project }), [run.project_id, run.project]);
  return <SystemCharts project={project} run={shown} live />;
}

import { compareRuns } from "./compare-runs.ts";
import { createProject } from "./create-project.ts";
import { createRun } from "./create-run.ts";
import type { RunsDeps, RunsHandlers } from "./deps.ts";
import { forkRun } from "./fork-run.ts";
import { getLineage } from "./get-lineage.ts";
import { getOverview } from "./get-overview.ts";
import { getRun } from "./get-run.ts";
import { listProjects } from "./list-projects.ts";
import { listRuns } from "./list-runs.ts";
import { summarizeRuns } from "./summarize-runs.ts";
import { updateRun } from "./update-run.ts";

/** Every RPC of the service. */
export function runsHandlers(deps: RunsDeps): RunsHandlers {
  return {
    createProject: createProject(deps),
    listProjects: listProjects(deps),
    createRun: createRun(deps),
    getRun: getRun(deps),
    listRuns: listRuns(deps),
    summarizeRuns: summarizeRuns(deps),
    getOverview: getOverview(deps),
    compareRuns: compareRuns(deps),
    forkRun: forkRun(deps),
    getLineage: getLineage(deps),
    updateRun: updateRun(deps),
  };
}

import { bulkUpdateRuns } from "./bulk-update/bulk-update-runs.ts";
import { compareRuns } from "./compare/compare-runs.ts";
import { correlateRuns } from "./correlations/correlate-runs.ts";
import { createRun } from "./create/create-run.ts";
import { deleteProject, undeleteProject, deleteRun, undeleteRun } from "./deletion/deletions.ts";
import { findProjects, findRuns } from "./find/find.ts";
import { forkRun } from "./fork/fork-run.ts";
import { getLineage, listRunOrigins } from "./fork/get-lineage.ts";
import { groupRuns } from "./groups/group-runs.ts";
import { getOverview, listRuns, summarizeRuns } from "./list/list-runs.ts";
import { addRunInputs, addRunOutputs, listRunInputs } from "./inputs/run-inputs.ts";
import { recordSignsOfLife } from "./life/record-signs.ts";
import { listKeys } from "./keys/list-keys.ts";
import { copyRuns } from "./copy/copy-runs.ts";
import { moveRuns } from "./move/move-runs.ts";
import { createProject, getProject, listProjects, updateProject } from "./projects/projects.ts";
import { getReadme, putReadmeOfRun } from "./readme/readme.ts";
import { getRun, getRuns } from "./read/get-run.ts";
import { readRuns, selectRuns } from "./select/select-runs.ts";
import { updateRun } from "./update/update-run.ts";
import type { RunsDeps, RunsHandlers } from "./deps.ts";

/** Every RPC of the service. */
export function runsHandlers(deps: RunsDeps): RunsHandlers {
  return {
    createProject: createProject(deps),
    listProjects: listProjects(deps),
    getProject: getProject(deps),
    createRun: createRun(deps),
    getRun: getRun(deps),
    getRuns: getRuns(deps),
    findRuns: findRuns(deps),
    findProjects: findProjects(deps),
    listRuns: listRuns(deps),
    summarizeRuns: summarizeRuns(deps),
    getOverview: getOverview(deps),
    listKeys: listKeys(deps),
    correlateRuns: correlateRuns(deps),
    groupRuns: groupRuns(deps),
    compareRuns: compareRuns(deps),
    forkRun: forkRun(deps),
    getLineage: getLineage(deps),
    listRunOrigins: listRunOrigins(deps),
    selectRuns: selectRuns(deps),
    readRuns: readRuns(deps),
    updateRun: updateRun(deps),
    bulkUpdateRuns: bulkUpdateRuns(deps),
    moveRuns: moveRuns(deps),
    copyRuns: copyRuns(deps),
    getReadme: getReadme(deps),
    putReadme: putReadmeOfRun(deps),
    addRunInputs: addRunInputs(deps),
    addRunOutputs: addRunOutputs(deps),
    listRunInputs: listRunInputs(deps),
    deleteRun: deleteRun(deps),
    undeleteRun: undeleteRun(deps),
    updateProject: updateProject(deps),
    deleteProject: deleteProject(deps),
    undeleteProject: undeleteProject(deps),
    recordSignsOfLife: recordSignsOfLife(deps),
  };
}

import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { ChangePublisher } from "@tidemark/changes";
import type { Db } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/plan-limits";
import type { Plans } from "@tidemark/plans";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Handlers } from "@tidemark/rpc";
import { bulkUpdateRuns } from "./bulk-update/bulk-update-runs.ts";
import type { ColumnKeeper } from "./columns/column-keeper.ts";
import { compareRuns } from "./compare/compare-runs.ts";
import { correlateRuns } from "./correlations/correlate-runs.ts";
import { createRun } from "./create/create-run.ts";
import { deleteProject, undeleteProject } from "./deletion/delete-project.ts";
import { deleteRun, undeleteRun } from "./deletion/delete-run.ts";
import type { DeletionPropagator } from "./deletion/deletion-propagator.ts";
import { forkRun } from "./fork/fork-run.ts";
import { getLineage } from "./fork/get-lineage.ts";
import { listRunOrigins } from "./fork/list-run-origins.ts";
import { importRuns, prepareImport } from "./import/import-runs.ts";
import { groupRuns } from "./groups/group-runs.ts";
import { getOverview } from "./list/get-overview.ts";
import { listRuns, summarizeRuns } from "./list/list-runs.ts";
import type { SortKeyAsks } from "./list/sort-key-asks.ts";
import { recordSignsOfLife } from "./life/record-signs.ts";
import type { Staleness } from "./life/staleness.rules.ts";
import type { KeyCatalogue } from "./keys/key-catalogue.ts";
import { listKeys } from "./keys/list-keys.ts";
import { createProject, getProject, listProjects } from "./projects/projects.ts";
import { updateProject } from "./projects/update-project.ts";
import { getReadme, putReadmeOfRun } from "./readme/readme.ts";
import { getRun } from "./read/get-run.ts";
import { getRuns } from "./read/get-runs.ts";
import { readRuns } from "./select/read-runs.ts";
import { selectRuns } from "./select/select-runs.ts";
import type { SearchThreads } from "./regex-search/search-threads.ts";
import { updateRun } from "./update/update-run.ts";

/** What the handlers use. */
export type RunsDeps = {
  readonly db: Db;
  /** The plans whose limits are enforced; undefined where they are not. */
  readonly plans: Plans | undefined;
  /** Refuses bytes beyond the plan. */
  readonly storageGate: PlanGate;
  /** Where searches with regular expressions are done. */
  readonly searchThreads: SearchThreads;
  /** Told which metrics lists are sorted by. */
  readonly sortKeys: SortKeyAsks;
  /** Told which columns tables are sorted by. */
  readonly columnKeeper: Pick<ColumnKeeper, "ask">;
  /** The keys of projects. */
  readonly keyCatalogue: KeyCatalogue;
  /** Which runs are stale, by the clock of this service. */
  readonly staleness: Staleness;
  /** Makes the runs of a project follow it. */
  readonly deletionPropagator: DeletionPropagator;
  /** Days for which what is deleted can be restored. */
  readonly graceDays: number;
  /** Told of changes that were committed. */
  readonly noteChange: ChangePublisher["note"];
  /** A new random UUID. */
  readonly newId: () => string;
};

/** The handlers of this service by RPC. */
export type RunsHandlers = Handlers<(typeof RunsService)["method"] & GenServiceMethods>;

/** Every RPC of the service. */
export function runsHandlers(deps: RunsDeps): RunsHandlers {
  return {
    createProject: createProject(deps),
    listProjects: listProjects(deps),
    getProject: getProject(deps),
    createRun: createRun(deps),
    getRun: getRun(deps),
    getRuns: getRuns(deps),
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
    prepareImport: prepareImport(deps),
    importRuns: importRuns(deps),
    selectRuns: selectRuns(deps),
    readRuns: readRuns(deps),
    updateRun: updateRun(deps),
    bulkUpdateRuns: bulkUpdateRuns(deps),
    getReadme: getReadme(deps),
    putReadme: putReadmeOfRun(deps),
    deleteRun: deleteRun(deps),
    undeleteRun: undeleteRun(deps),
    updateProject: updateProject(deps),
    deleteProject: deleteProject(deps),
    undeleteProject: undeleteProject(deps),
    recordSignsOfLife: recordSignsOfLife(deps),
  };
}

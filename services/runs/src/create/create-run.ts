import { admitWithin, callerOf, type Caller } from "@tidemark/requests";
import { awaitsPayment } from "@tidemark/limits";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { DEFAULT_PROJECT } from "../projects/resolve-project.ts";
import { newRunBytes } from "../documents/run-notes.rules.ts";
import { encodeRun } from "../read/encode-run.ts";
import { findRun, type RunRow } from "../read/runs.sql.ts";
import { createAlone } from "./create-alone.ts";
import { createGroupedCreates } from "./create-grouped.ts";
import { readWantedRun } from "./wanted-run.ts";

/*
 * The path of a create, in the order in which to read it:
 *
 *     wanted-run.ts            reads the request
 *     create-grouped.ts        new runs of one project share a transaction (infra/work/src/jobs)
 *     run-group.sql.ts         stores a group, in one statement
 *     merge-texts.ts           has the index of searched texts merged while creates run
 *     create-alone.ts          everything else, in a transaction of its own: an id that is taken, a new project, the last runs of a plan
 *     create-run.rules.ts      what happens if the id exists
 */

/** Number of project names that are remembered. */
const PROJECTS_MAX = 10_000;

/**
 * Creates a run or attaches to the one with the given id (API specification, POST /runs). An id is free if it can be taken: one of simultaneous
 * requests takes it and creates the run, the others find the run. Account state and plan are checked only for a run that is really new.
 * @throws invalid_run_mode, invalid_run_id, bad_request, forbidden, run_not_found, run_id_conflict, resume_project_mismatch, payment_required,
 *   plan_limit_exceeded, service_unavailable
 */
export function createRun(deps: RunsDeps): RunsHandlers["createRun"] {
  const grouped = createGroupedCreates(deps);
  const projectNames = createProjectNames();
  const note = ({ org_id: orgId, project_id: projectId, id: runId }: RunRow): void =>
    deps.noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
  return async (request, call) => {
    const caller = callerOf(call);
    const wanted = await readWantedRun(request);
    if (wanted.mode !== "resume" && !awaitsPayment(caller.billingState))
      await admitNew(deps, caller, request, wanted.id);
    const project = wanted.explicitProject ?? projectNames.defaultOf(caller);
    if (project !== undefined && wanted.mode !== "resume" && !awaitsPayment(caller.billingState)) {
      const row = await grouped.create(caller, project, wanted);
      if (row !== undefined) {
        note(row);
        return { run: encodeRun(row, deps.staleness), created: true };
      }
    }
    const { row, created, changed } = await createAlone(deps, caller, wanted);
    if (changed) note(row);
    projectNames.note(caller, row.project);
    return { run: encodeRun(row, deps.staleness), created };
  };
}

/** Admits the bytes of a run, unless the run exists: then the caller attaches to it. */
function admitNew(
  { db, storageGate }: RunsDeps,
  caller: Caller,
  { name, configJson, metadataJson, tags }: Parameters<RunsHandlers["createRun"]>[0],
  id: string | undefined,
): Promise<void> | undefined {
  const { orgId } = caller;
  return admitWithin(
    storageGate,
    caller,
    newRunBytes({ name, tags }) + configJson.length + metadataJson.length,
    async () =>
      id !== undefined && (await db.readTenant(orgId, (tx) => findRun(tx, orgId, id, undefined))) !== undefined,
  );
}

/** Remembers the projects of project-scoped keys, whose runs are in no other project. The database checks that this is still true. */
function createProjectNames() {
  const names = new Map<string, string>();
  return {
    /** The project of runs whose client names no project; undefined when unknown. */
    defaultOf: ({ projectId }: Caller): string | undefined =>
      projectId === undefined ? DEFAULT_PROJECT : names.get(projectId),
    /** Remembers the name of the caller's own project. */
    note({ projectId }: Caller, name: string): void {
      if (projectId === undefined || names.has(projectId)) return;
      if (names.size >= PROJECTS_MAX) names.delete(names.keys().next().value!);
      names.set(projectId, name);
    },
  };
}

import { admitWithin, callerOf, type Caller } from "@tidemark/requests";
import { awaitsPayment } from "@tidemark/limits";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { DEFAULT_PROJECT, chooseProjectName, resolveProject } from "../projects/resolve-project.ts";
import { newRunBytes } from "../documents/run-notes.rules.ts";
import { encodeRun } from "../read/encode-rows.ts";
import { findRun, type RunRow } from "../read/runs.sql.ts";
import { createGroupedCreates } from "./create-grouped.ts";
import { readWantedRun, type WantedRun } from "./wanted-run.ts";
import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { fingerprintInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { lockRunState, moveRuns } from "../update/run-changes.sql.ts";
import { comparedCreate, judgeExisting } from "./create-run.rules.ts";
import { insertRun, takeNewRunId, takeRunId } from "./new-runs.sql.ts";
import { runNameWords } from "./run-name.rules.ts";

/*
 * The path of a create, in the order in which to read it:
 *
 *     wanted-run.ts            reads the request
 *     create-grouped.ts        new runs of one project share a transaction (infra/work/src/jobs)
 *     new-runs.sql.ts          stores a group, in one statement, or a run alone
 *     merge-texts.ts           has the index of searched texts merged while creates run
 *     createAlone              everything else, in a transaction of its own: an id that is taken, a new project, the last runs of a plan
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

/**
 * Creates a run or attaches to the one with the wanted id, in a transaction of its own. Account state and plan are checked only for a run that
 * is really new.
 * @throws forbidden, run_not_found, run_id_conflict, resume_project_mismatch, bad_request, payment_required, plan_limit_exceeded
 */
async function createAlone(
  deps: Pick<RunsDeps, "db" | "plans" | "newId">,
  caller: Caller,
  wanted: WantedRun,
): Promise<{ row: RunRow; created: boolean; changed: boolean }> {
  const { orgId } = caller;
  const { id } = wanted;
  const request = id === undefined ? undefined : { ...wanted, id, name: wanted.name ?? null };
  const fingerprint = request === undefined ? undefined : await fingerprintInTurns(comparedCreate(request));
  const config = await writeCanonicalInTurns(wanted.config);
  const metadata = await writeCanonicalInTurns(wanted.metadata);
  return deps.db.withTenant(orgId, async (tx) => {
    const project = await chooseProjectName(tx, caller, wanted.explicitProject);
    if (request !== undefined && fingerprint !== undefined) {
      const free = wanted.mode !== "resume" && (await takeRunId(tx, orgId, request.id));
      if (!free) {
        const attached = await attach(tx, caller, request.id, { ...wanted, project, fingerprint });
        return { ...attached, created: false };
      }
    }
    const runId = id ?? (await takeNewRunId(tx, deps.newId, orgId));
    const { id: projectId } = await resolveProject(tx, caller, deps.plans, {
      name: project,
      description: undefined,
      newId: deps.newId(),
      runs: 1,
    });
    const row = await insertRun(tx, orgId, {
      id: runId,
      projectId,
      name: wanted.name,
      nameWords: runNameWords(runId),
      config,
      tags: wanted.tags,
      metadata,
      createFingerprint: fingerprint,
      fork: undefined,
    });
    return { row, created: true, changed: true };
  });
}

async function attach(
  tx: Tx,
  caller: Caller,
  runId: string,
  wanted: WantedRun & { readonly project: string; readonly fingerprint: Uint8Array },
): Promise<{ row: RunRow; changed: boolean }> {
  const { orgId, projectId } = caller;
  const run = await findRun(tx, orgId, runId, projectId);
  if (run === undefined) throw runNotFound();
  const existing = { project: run.project, createFingerprint: run.create_fingerprint };
  if (judgeExisting(wanted.mode, existing, wanted) === "attach") return { row: run, changed: false };
  const locked = await lockRunState(tx, orgId, runId);
  if (locked === undefined) throw runNotFound();
  await moveRuns(tx, orgId, [locked], { kind: "resume" });
  return { row: (await findRun(tx, orgId, runId, projectId)) ?? run, changed: true };
}

/** 404: a run that the caller may not see has the id, or no run to resume has it. */
function runNotFound(): AppError {
  return new AppError("run_not_found", "run not found");
}

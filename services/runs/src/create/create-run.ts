import { AppError, badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { callerOf, isUuid, type Caller } from "@tidemark/requests";
import { readDocument, writeCanonical, type ExactObject } from "../documents/exact-json.rules.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { chooseProjectName, resolveProject } from "../projects/resolve-project.ts";
import { encodeRun } from "../read/encode-run.ts";
import { findRun, type RunRow } from "../read/runs.sql.ts";
import { lockRunState, moveRun } from "../update/run-changes.sql.ts";
import { createFingerprint, judgeExisting, requireMode, type CreateMode } from "./create-run.rules.ts";
import { insertRun, takeNewRunId, takeRunId } from "./new-runs.sql.ts";
import { runNameWords } from "./run-name.rules.ts";

const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** A create request, its parts checked. */
type Wanted = {
  readonly mode: CreateMode;
  readonly id: string | undefined;
  readonly explicitProject: string | undefined;
  readonly name: string | undefined;
  readonly config: ExactObject;
  readonly tags: readonly string[];
  readonly metadata: ExactObject;
};

/**
 * Creates a run or attaches to the one with the given id (API specification, POST /runs). An id is free
 * if it can be taken: one of simultaneous requests takes it and creates the run, the others find the run.
 * Account state and plan are checked only for a run that is really new.
 * @throws invalid_run_mode, invalid_run_id, bad_request, forbidden, run_not_found, run_id_conflict,
 *   resume_project_mismatch, payment_required, plan_limit_exceeded
 */
export function createRun(deps: RunsDeps): RunsHandlers["createRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const wanted = readWanted(request);
    return deps.db.withTenant(caller.orgId, async (tx) => {
      const { row, created } = await createOrAttach(tx, deps, caller, wanted);
      return { run: encodeRun(row), created };
    });
  };
}

function readWanted(request: Parameters<RunsHandlers["createRun"]>[0]): Wanted {
  const mode = requireMode(request.mode);
  const id = request.id === undefined ? undefined : requireRunId(request.id);
  if (mode === "resume" && id === undefined) throw badRequest("mode resume needs an id", "id");
  return {
    mode,
    id,
    explicitProject: request.project,
    name: request.name,
    config: readDocument(request.configJson, "config"),
    tags: request.tags,
    metadata: readDocument(request.metadataJson, "metadata"),
  };
}

/** Returns the id that a client chose for its run. @throws invalid_run_id */
function requireRunId(text: string): string {
  if (isUuid(text) && text !== NIL_UUID) return text;
  throw new AppError("invalid_run_id", "id must be a canonical UUID", { field: "id" });
}

async function createOrAttach(
  tx: Tx,
  deps: RunsDeps,
  caller: Caller,
  wanted: Wanted,
): Promise<{ row: RunRow; created: boolean }> {
  const project = await chooseProjectName(tx, caller, wanted.explicitProject);
  const { id } = wanted;
  const fingerprint =
    id === undefined ? undefined : createFingerprint({ ...wanted, id, project, name: wanted.name ?? null });
  if (id !== undefined && fingerprint !== undefined) {
    const free = wanted.mode !== "resume" && (await takeRunId(tx, caller.orgId, id));
    if (!free) return { row: await attach(tx, caller, id, wanted, fingerprint), created: false };
  }
  const runId = id ?? (await takeNewRunId(tx, deps.newId, caller.orgId));
  const { id: projectId } = await resolveProject(tx, caller, deps.plans, {
    name: project,
    description: undefined,
    newId: deps.newId(),
    run: true,
  });
  const row = await insertRun(tx, caller.orgId, {
    id: runId,
    projectId,
    name: wanted.name,
    nameWords: runNameWords(runId),
    config: writeCanonical(wanted.config),
    tags: wanted.tags,
    metadata: writeCanonical(wanted.metadata),
    createFingerprint: fingerprint,
    fork: undefined,
  });
  return { row, created: true };
}

async function attach(tx: Tx, caller: Caller, runId: string, wanted: Wanted, fingerprint: Uint8Array): Promise<RunRow> {
  const { orgId, projectId } = caller;
  const run = await findRun(tx, orgId, runId, projectId);
  if (run === undefined) throw runNotFound();
  const existing = { project: run.project, createFingerprint: run.create_fingerprint };
  if (judgeExisting(wanted.mode, existing, { ...wanted, fingerprint }) === "attach") return run;
  const locked = await lockRunState(tx, orgId, runId);
  if (locked === undefined) throw runNotFound();
  await moveRun(tx, orgId, runId, locked, { kind: "resume" });
  return (await findRun(tx, orgId, runId, projectId)) ?? run;
}

/** 404: a run that the caller may not see has the id, or no run to resume has it. */
function runNotFound(): AppError {
  return new AppError("run_not_found", "run not found");
}

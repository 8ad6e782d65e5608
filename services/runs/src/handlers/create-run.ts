import type { Tx } from "@tidemark/pg";
import { callerOf, type Caller } from "@tidemark/requests";
import { readDocument, writeCanonical, type ExactObject } from "../documents/exact-json.rules.ts";
import { createFingerprint } from "../domain/create-fingerprint.ts";
import { judgeExisting, requireMode, type CreateMode } from "../domain/existing-run.ts";
import { requireRunId, resumeNeedsId, runNotFound } from "../domain/run-id.ts";
import { runNameWords } from "../domain/run-name.ts";
import { encodeRun } from "../encode/run.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { chooseProjectName, resolveProject } from "../projects/resolve-project.ts";
import { moveRun } from "../steps/move-run.ts";
import { takeNewRunId } from "../steps/take-new-run-id.ts";
import { findRun } from "../store/find-run.ts";
import { insertRun } from "../store/insert-run.ts";
import { lockRunState } from "../store/lock-run-state.ts";
import type { RunRow } from "../store/run-row.ts";
import { takeRunId } from "../store/take-run-id.ts";

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
 * Creates a run or attaches to the one with the given id (API specification, POST /runs). Whether an
 * id is free is settled by taking it, so that of requests at the same time one creates the run and
 * the others find it. Account state and plan matter to a run that is really new only.
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
  if (mode === "resume" && id === undefined) throw resumeNeedsId();
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

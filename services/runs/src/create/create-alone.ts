import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { Caller } from "@tidemark/requests";
import { fingerprintInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import type { RunsDeps } from "../deps.ts";
import { chooseProjectName, resolveProject } from "../projects/resolve-project.ts";
import { findRun, type RunRow } from "../read/runs.sql.ts";
import { lockRunState, moveRuns } from "../update/run-changes.sql.ts";
import { comparedCreate, judgeExisting } from "./create-run.rules.ts";
import { insertRun, takeNewRunId, takeRunId } from "./new-runs.sql.ts";
import { runNameWords } from "./run-name.rules.ts";
import type { WantedRun } from "./wanted-run.ts";

/**
 * Creates a run or attaches to the one with the wanted id, in a transaction of its own. Account state and plan are checked only for a run that
 * is really new.
 * @throws forbidden, run_not_found, run_id_conflict, resume_project_mismatch, bad_request, payment_required, plan_limit_exceeded
 */
export async function createAlone(
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

import { badRequest, notFound } from "@tidemark/errors";
import { PAGE_BYTES_MAX, RUN_INPUTS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { RunModel } from "@tidemark/proto/runs/v1/inputs";
import { type Caller, callerOf, canSee, isUuid, pathId, refuseUnpaid } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { lockRunState } from "../update/run-changes.sql.ts";
import { growthOf, mergeDatasets, readDatasets } from "./run-inputs.rules.ts";
import {
  addModels,
  type Direction,
  listDatasets,
  listKnownDatasets,
  listModels,
  listVisibleIds,
  putDatasets,
  weighDatasets,
} from "./run-inputs.sql.ts";

type Deps = Pick<RunsDeps, "db" | "storageGate" | "noteChange">;

/** RunsService.AddRunInputs: all or none is stored. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function addRunInputs({ db, storageGate, noteChange }: Deps): RunsHandlers["addRunInputs"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await db.withTenant(orgId, async (tx) => {
      const project = await lockRun(tx, caller, runId);
      const sent = readDatasets(request.datasets);
      const models = readModels(request.modelIds.map((modelId) => ({ modelId, step: 0n })));
      refuseUnpaid(caller);
      const known = sent.length === 0 ? [] : await listKnownDatasets(tx, orgId, runId);
      const merged = mergeDatasets(known, sent);
      const growth = growthOf(known, merged);
      if (growth > 0) await storageGate.admit(caller, growth);
      await putDatasets(tx, orgId, runId, merged);
      requireFew(await addModels(tx, orgId, { runId, direction: "input" }, models), "input");
      return project;
    });
    noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
    return {};
  };
}

/** RunsService.AddRunOutputs: all or none is stored. @throws not_found, bad_request, payment_required */
export function addRunOutputs({ db, noteChange }: Pick<Deps, "db" | "noteChange">): RunsHandlers["addRunOutputs"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await db.withTenant(orgId, async (tx) => {
      const project = await lockRun(tx, caller, runId);
      const models = readModels(request.models);
      refuseUnpaid(caller);
      requireFew(await addModels(tx, orgId, { runId, direction: "output" }, models), "output");
      return project;
    });
    noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
    return {};
  };
}

/** Checks the models of a request. Returns equal ones once. @throws bad_request */
function readModels(sent: readonly Pick<RunModel, "modelId" | "step">[]): { modelId: string; step: number }[] {
  if (sent.length > RUN_INPUTS.together) {
    throw badRequest(`at most ${RUN_INPUTS.together} models are added together`, "models");
  }
  const read = sent.map((model) => {
    const modelId = model.modelId.toLowerCase();
    const step = Number(model.step);
    if (!isUuid(modelId)) throw badRequest("model_id must be a UUID", "models");
    if (step < 0 || !Number.isSafeInteger(step)) throw badRequest("step must be from 0 to 2^53 - 1", "models");
    return { modelId, step };
  });
  return [...new Map(read.map((model) => [`${model.modelId} ${model.step}`, model])).values()];
}

/** Locks a run and returns its project. @throws not_found */
async function lockRun(tx: Tx, caller: Caller, runId: string): Promise<string> {
  const run = await lockRunState(tx, caller.orgId, runId);
  if (run === undefined || !canSee(caller, { orgId: caller.orgId, projectId: run.projectId })) throw notFound("run");
  return run.projectId;
}

function requireFew(models: number, direction: Direction): void {
  if (models <= RUN_INPUTS.ofRunMax) return;
  throw badRequest(`a run has at most ${RUN_INPUTS.ofRunMax} models as ${direction}s`, "models");
}

/** RunsService.ListRunInputs: what runs used and made. @throws bad_request, not_found */
export function listRunInputs({ db }: Pick<Deps, "db">): RunsHandlers["listRunInputs"] {
  return (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const runIds = request.runIds.map((id) => pathId(id, "run"));
    if (runIds.length < 1 || runIds.length > RUN_INPUTS.runsMax || new Set(runIds).size < runIds.length) {
      throw badRequest(`run_ids must have 1 to ${RUN_INPUTS.runsMax} different ids`, "run_ids");
    }
    return db.readTenant(
      orgId,
      async (tx) => {
        const visible = await listVisibleIds(tx, orgId, runIds, projectId);
        if (visible.length < runIds.length) throw notFound("run");
        const page = runIds.slice(0, countFitting(await weighDatasets(tx, orgId, runIds)));
        const datasets = Map.groupBy(await listDatasets(tx, orgId, page), ({ runId }) => runId);
        const models = Map.groupBy(await listModels(tx, orgId, page), ({ runId }) => runId);
        return {
          runs: page.map((runId) => {
            const of = (direction: Direction) =>
              (models.get(runId) ?? [])
                .filter((model) => model.direction === direction)
                .map(({ modelId, step }) => ({ modelId, step: BigInt(step) }));
            return {
              runId,
              datasets: (datasets.get(runId) ?? []).map(({ dataset }) => dataset),
              modelInputs: of("input"),
              modelOutputs: of("output"),
            };
          }),
        };
      },
      { plans: "walks" },
    );
  };
}

/** Returns for how many of the runs, at least one, the bytes fit in an answer. */
function countFitting(bytes: readonly number[]): number {
  let sum = 0;
  const beyond = bytes.findIndex((ofRun) => (sum += ofRun) > PAGE_BYTES_MAX);
  return beyond === -1 ? bytes.length : Math.max(beyond, 1);
}

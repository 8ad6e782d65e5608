import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, notFound } from "@tidemark/errors";
import { MODELS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { ModelSchema } from "@tidemark/proto/artifacts/v1/models";
import { callerOf, canSee, pathId, refuseUnpaid } from "@tidemark/requests";
import type { ArtifactsDeps, ModelsHandlers } from "../deps.ts";
import { changed, requireShort, requireSmall, requireTexts, type TextMap } from "../query/text-map.rules.ts";
import { forgetFiles } from "./model-files.ts";
import { listModelMetrics, type ModelMetricRow } from "./model-metrics.sql.ts";
import { MODEL, requireLocked, requireModel } from "./require-model.ts";
import { takeModelFiles } from "./model-files.sql.ts";
import { isLiveProject } from "../collections/collections.sql.ts";
import { deleteModelRow, insertModel, type ModelRow, updateModelRow } from "./models.sql.ts";

/** ModelsService.CreateModel. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function createModel(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">,
): ModelsHandlers["createModel"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const projectId = pathId(request.projectId, "project");
    if (!canSee(caller, { orgId, projectId })) throw notFound("project");
    const sourceRunId = request.sourceRunId === undefined ? null : pathId(request.sourceRunId, "run");
    if (sourceRunId !== null) await deps.runs.require(caller, [sourceRunId]);
    const name = requireShort(request.name, MODELS.nameBytesMax, "name", 1);
    const type = requireShort(request.type, MODELS.typeBytesMax, "type");
    const { params, tags } = request;
    requireTexts(params, "params");
    requireTexts(tags, "tags");
    const bytes = requireSmall(params, tags);
    refuseUnpaid(caller);
    await deps.gate.admit(caller, bytes);
    const row = await deps.db.withTenant(orgId, async (tx) => {
      if (!(await isLiveProject(tx, orgId, projectId))) throw notFound("project");
      return insertModel(tx, { orgId, id: deps.newId(), projectId, name, type, sourceRunId, params, tags });
    });
    return { model: encodeModel(row, []) };
  };
}

/** ModelsService.GetModel. @throws not_found */
export function getModel({ db }: Pick<ArtifactsDeps, "db">): ModelsHandlers["getModel"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.modelId, MODEL);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const row = await requireModel(tx, caller, id);
        return { model: encodeModel(row, await listModelMetrics(tx, caller.orgId, [id])) };
      },
      { plans: "walks" },
    );
  };
}

/** ModelsService.UpdateModel. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function updateModel({ db, gate }: Pick<ArtifactsDeps, "db" | "gate">): ModelsHandlers["updateModel"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.modelId, MODEL);
    return db.withTenant(
      orgId,
      async (tx) => {
        const row = await requireLocked(tx, caller, id);
        const { setTags, removedTags, params, status = row.status } = request;
        if (request.status !== undefined && status !== "ready" && status !== "failed") {
          throw badRequest("status must be ready or failed", "status");
        }
        requireTexts(setTags, "tags");
        requireTexts(params, "params");
        const missing = removedTags.find((key) => !Object.hasOwn(row.tags, key));
        if (missing !== undefined) throw notFound(`tag ${JSON.stringify(missing)}`);
        requireSame(row.params, params);
        const wanted = {
          id,
          status,
          tags: changed(row.tags, setTags, removedTags),
          params: { ...row.params, ...params },
        };
        const growth = requireSmall(wanted.tags, wanted.params) - requireSmall(row.tags, row.params);
        refuseUnpaid(caller);
        if (growth > 0) await gate.admit(caller, growth);
        const after = await updateModelRow(tx, orgId, wanted);
        return { model: encodeModel(after, await listModelMetrics(tx, orgId, [id])) };
      },
      { plans: "walks" },
    );
  };
}

function requireSame(before: TextMap, sent: TextMap): void {
  const other = Object.entries(sent).find(([key, value]) => Object.hasOwn(before, key) && before[key] !== value);
  if (other !== undefined) throw badRequest(`the param ${JSON.stringify(other[0])} has another value`, "params");
}

/** ModelsService.DeleteModel: its bytes count as pending until the store has removed them. @throws not_found, also for a repeat */
export function deleteModel({ db }: Pick<ArtifactsDeps, "db">): ModelsHandlers["deleteModel"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.modelId, MODEL);
    return db.withTenant(
      caller.orgId,
      async (tx) => {
        await requireLocked(tx, caller, id);
        await dropModel(tx, caller.orgId, id);
        return {};
      },
      { plans: "walks" },
    );
  };
}

/** Deletes a locked model with its metrics and files. Afterwards only the storage of the organization may be written. */
export async function dropModel(tx: Tx, orgId: string, id: string): Promise<void> {
  const files = await takeModelFiles(tx, orgId, id, "");
  await deleteModelRow(tx, orgId, id);
  await forgetFiles(tx, orgId, files);
}

/** Encodes a model with its metrics. */
export function encodeModel(row: ModelRow, metrics: readonly ModelMetricRow[]): MessageInitShape<typeof ModelSchema> {
  return {
    id: row.id,
    projectId: row.projectId,
    name: row.name,
    type: row.type,
    status: row.status,
    ...(row.sourceRunId === null ? {} : { sourceRunId: row.sourceRunId }),
    params: row.params,
    tags: row.tags,
    metrics: metrics.map(({ key, value, step, timeMs, runId, datasetName, datasetDigest }) => ({
      key,
      value,
      step: BigInt(step),
      timeMs: BigInt(timeMs),
      runId,
      datasetName,
      datasetDigest,
    })),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

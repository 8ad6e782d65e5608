import { badRequest, notFound } from "@tidemark/errors";
import { ENTRY_PATH_BYTES_MAX, MODELS, RESERVED_OBJECTS_MAX, ROW_BYTES } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { callerOf, isPlanRefusal, isUuid, pathId, refuseUnpaid } from "@tidemark/requests";
import type { ArtifactsDeps, ModelsHandlers } from "../deps.ts";
import { keepObjects, releaseObjects, reserveObjects } from "../objects/objects.sql.ts";
import { SWEEP_SECONDS } from "../plain/store-artifact.ts";
import { requireShort } from "../query/text-map.rules.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { discardObject } from "../sweep/sweep.ts";
import {
  findModelFile,
  insertModelFile,
  listFilesOfModel,
  type ModelFileRow,
  takeModelFiles,
} from "./model-files.sql.ts";
import { MODEL, requireLocked, requireModel } from "./require-model.ts";

/** ModelsService.ReserveModelObjects. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function reserveModelObjects(
  deps: Pick<ArtifactsDeps, "db" | "newId" | "gate">,
): ModelsHandlers["reserveModelObjects"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.modelId, MODEL);
    return deps.db.withTenant(orgId, async (tx) => {
      await requireModel(tx, caller, id);
      const { count, bytes } = request;
      if (count < 1 || count > RESERVED_OBJECTS_MAX) {
        throw badRequest(`count must be a whole number from 1 to ${RESERVED_OBJECTS_MAX}`, "count");
      }
      refuseUnpaid(caller);
      await deps.gate.admit(caller, Number(bytes));
      const objectIds = Array.from({ length: count }, deps.newId);
      await reserveObjects(tx, orgId, objectIds, SWEEP_SECONDS);
      return { objectIds };
    });
  };
}

/**
 * ModelsService.StoreModelFile: the file before with the same path is deleted in the same transaction. When it is refused because of its size, its
 * bytes are removed before the answer.
 * @throws not_found, bad_request, payment_required, plan_limit_exceeded, service_unavailable
 */
export function storeModelFile(deps: Pick<ArtifactsDeps, "db" | "gate" | "blob">): ModelsHandlers["storeModelFile"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.modelId, MODEL);
    const path = requireShort(request.path, ENTRY_PATH_BYTES_MAX, "path", 1);
    const mimeType = requireShort(request.mimeType, 512, "mime_type", 1);
    const { object } = request;
    if (object === undefined || !isUuid(object.objectId) || object.sha256.length !== 32) {
      throw badRequest("an object is required", "object");
    }
    const { objectId, sha256 } = object;
    const sizeBytes = Number(object.sizeBytes);
    const storing = deps.db.withTenant(
      orgId,
      async (tx) => {
        const model = await requireLocked(tx, caller, id);
        refuseUnpaid(caller);
        await deps.gate.admit(caller, sizeBytes + ROW_BYTES.artifacts);
        const before = await findModelFile(tx, orgId, id, path);
        if (before === undefined && model.files >= MODELS.filesMax) {
          throw badRequest(`a model has at most ${MODELS.filesMax} files`, "path");
        }
        if (before !== undefined) await takeModelFiles(tx, orgId, id, path);
        const kept = (await keepObjects(tx, orgId, [{ objectId, sizeBytes, sha256 }])).get(objectId)!;
        const file = await insertModelFile(tx, orgId, id, { path, sizeBytes, sha256, mimeType, objectId: kept });
        if (before !== undefined) await forgetFiles(tx, orgId, [before]);
        await addStorage(tx, orgId, { artifacts: 1, artifactBytes: sizeBytes });
        return { file: encodeFile(file) };
      },
      { plans: "walks" },
    );
    return storing.catch(async (error: unknown) => {
      if (isPlanRefusal(error)) await discardObject(deps, { orgId, id: objectId });
      throw error;
    });
  };
}

/** Releases the objects of files that the transaction has deleted, and subtracts them from the storage. */
export async function forgetFiles(tx: Tx, orgId: string, files: readonly ModelFileRow[]): Promise<void> {
  if (files.length === 0) return;
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const settled = await releaseObjects(
    tx,
    orgId,
    files.map(({ objectId, sizeBytes }) => ({ objectId, owedBytes: sizeBytes })),
  );
  await addStorage(tx, orgId, {
    artifacts: -files.length,
    artifactBytes: -bytes,
    pendingDeleteBytes: bytes - settled,
  });
}

/** ModelsService.ListModelFiles. @throws not_found */
export function listModelFiles({ db }: Pick<ArtifactsDeps, "db">): ModelsHandlers["listModelFiles"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.modelId, MODEL);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        await requireModel(tx, caller, id);
        const files = await listFilesOfModel(tx, caller.orgId, id, request.folder);
        return { files: files.map(encodeFile) };
      },
      { plans: "walks" },
    );
  };
}

function encodeFile({ path, sizeBytes, mimeType, createdAt }: ModelFileRow) {
  return { path, sizeBytes: BigInt(sizeBytes), mimeType, createdAt };
}

/** ModelsService.LocateModelFile. @throws not_found */
export function locateModelFile({ db }: Pick<ArtifactsDeps, "db">): ModelsHandlers["locateModelFile"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.modelId, MODEL);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        await requireModel(tx, caller, id);
        const file = await findModelFile(tx, caller.orgId, id, request.path);
        if (file === undefined) throw notFound("file");
        return { objectId: file.objectId, sizeBytes: BigInt(file.sizeBytes), mimeType: file.mimeType };
      },
      { plans: "walks" },
    );
  };
}

/** ModelsService.DeleteModelFiles: returns how many there were. @throws not_found */
export function deleteModelFiles({ db }: Pick<ArtifactsDeps, "db">): ModelsHandlers["deleteModelFiles"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.modelId, MODEL);
    return db.withTenant(
      caller.orgId,
      async (tx) => {
        await requireLocked(tx, caller, id);
        const files = await takeModelFiles(tx, caller.orgId, id, request.path);
        await forgetFiles(tx, caller.orgId, files);
        return { deleted: files.length };
      },
      { plans: "walks" },
    );
  };
}

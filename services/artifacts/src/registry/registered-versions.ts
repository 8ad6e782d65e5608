import { badRequest, notFound } from "@tidemark/errors";
import { MODEL_STAGES, REGISTRY } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { CreateRegisteredVersionRequest } from "@tidemark/proto/artifacts/v1/registry";
import { type Caller, callerOf, pathId, refuseUnpaid } from "@tidemark/requests";
import type { ArtifactsDeps, RegistryHandlers } from "../deps.ts";
import { MODEL, requireModel } from "../models/require-model.ts";
import { changed, requireShort, requireSmall, requireTexts } from "../query/text-map.rules.ts";
import { encodeRegisteredVersion } from "./encode-registered.ts";
import { filesOf, publishFiles } from "./publish-version.ts";
import { findAliasNumber, type RegisteredRow, touchRegistered } from "./registered-models.sql.ts";
import { requireRegistered } from "./registered-models.ts";
import {
  deleteVersionRow,
  findVersionId,
  insertVersion,
  moveOthers,
  readVersionsOf,
  type RegisteredVersionRow,
  updateVersionRow,
} from "./registered-versions.sql.ts";

const VERSION = "model version";

/** RegistryService.CreateRegisteredVersion. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function createRegisteredVersion(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">,
): RegistryHandlers["createRegisteredVersion"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const texts = readTexts(request);
    const made = await findMaker(deps, caller, request);
    return deps.db.withTenant(
      orgId,
      async (tx) => {
        const registered = await requireRegistered(tx, caller, request.name, "locked");
        const { folder } = request;
        const { runId, modelId } = made;
        const files =
          folder === undefined || runId === null || made.projectOfRun === undefined
            ? []
            : await filesOf(tx, orgId, { modelId, runId, folder });
        refuseUnpaid(caller);
        const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        await deps.gate.admit(caller, bytes + texts.bytes);
        const id = deps.newId();
        const projectId = made.projectOfRun ?? made.projectOfModel ?? caller.projectId ?? null;
        // It has written the storage of the organization, but the row that is written next belongs to this transaction.
        const versionId =
          files.length === 0
            ? null
            : await publishFiles(tx, deps, orgId, {
                name: registered.name,
                projectId: made.projectOfRun!,
                runId: runId!,
                files,
              });
        const { source, runLink, description, tags } = texts;
        const version = { source, runLink, description, tags, runId, modelId, versionId, projectId };
        await insertVersion(tx, orgId, { registeredId: registered.id, id, ...version });
        return { version: await readOne(tx, orgId, id) };
      },
      { plans: "walks" },
    );
  };
}

function readTexts(request: CreateRegisteredVersionRequest) {
  const { tags } = request;
  const source = requireShort(request.source, REGISTRY.sourceBytesMax, "source", 1);
  const runLink = requireShort(request.runLink, REGISTRY.sourceBytesMax, "run_link");
  const description = requireShort(request.description, REGISTRY.descriptionBytesMax, "description");
  requireTexts(tags, "tags", Infinity);
  const bytes = requireSmall(tags) + Buffer.byteLength(source + runLink + description);
  return { source, runLink, description, tags, bytes };
}

/** Returns the model and the run that a version comes from, and where they are; the run of a model may be gone. @throws not_found */
async function findMaker(
  { db, runs }: Pick<ArtifactsDeps, "db" | "runs">,
  caller: Caller,
  request: CreateRegisteredVersionRequest,
) {
  const modelId = request.modelId === undefined ? null : pathId(request.modelId, MODEL);
  const model =
    modelId === null ? undefined : await db.readTenant(caller.orgId, (tx) => requireModel(tx, caller, modelId));
  const sent = request.runId === undefined ? null : pathId(request.runId, "run");
  const runId = sent ?? model?.sourceRunId ?? null;
  const finding = runId === null ? undefined : runs.projectOf(caller, runId);
  const projectOfRun = await (sent === null ? finding?.catch(() => {}) : finding);
  return { modelId, runId, projectOfRun: projectOfRun ?? undefined, projectOfModel: model?.projectId };
}

/** RegistryService.GetRegisteredVersion. @throws not_found */
export function getRegisteredVersion({ db }: Pick<ArtifactsDeps, "db">): RegistryHandlers["getRegisteredVersion"] {
  return (request, call) => {
    const caller = callerOf(call);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const { which } = request;
        const registered = await requireRegistered(tx, caller, request.name);
        if (which.case === undefined) throw badRequest("one of number and alias is required");
        const number =
          which.case === "number"
            ? which.value
            : await findAliasNumber(tx, caller.orgId, registered.id, which.value.replaceAll("\0", ""));
        if (number === undefined) return {};
        const id = await requireVersionId(tx, caller, registered, number);
        return { version: await readOne(tx, caller.orgId, id) };
      },
      { plans: "walks" },
    );
  };
}

/** RegistryService.UpdateRegisteredVersion. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function updateRegisteredVersion({
  db,
  gate,
}: Pick<ArtifactsDeps, "db" | "gate">): RegistryHandlers["updateRegisteredVersion"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    return db.withTenant(
      orgId,
      async (tx) => {
        const registered = await requireRegistered(tx, caller, request.name, "locked");
        const id = await requireVersionId(tx, caller, registered, request.number);
        const before = await requireRow(tx, orgId, id);
        const { description = before.description, stage = before.stage, stageOfOthers, setTags, removedTags } = request;
        requireShort(description, REGISTRY.descriptionBytesMax, "description");
        for (const named of [stage, stageOfOthers]) if (named !== undefined) requireStage(named);
        requireTexts(setTags, "tags", Infinity);
        const tags = changed(before.tags, setTags, removedTags);
        const growth =
          requireSmall(tags) +
          Buffer.byteLength(description) -
          requireSmall(before.tags) -
          Buffer.byteLength(before.description);
        refuseUnpaid(caller);
        if (growth > 0) await gate.admit(caller, growth);
        await updateVersionRow(tx, orgId, { id, stage, description, tags });
        if (stageOfOthers !== undefined) {
          await moveOthers(tx, orgId, { registeredId: registered.id, id, stage }, stageOfOthers);
        }
        await touchRegistered(tx, orgId, registered.id);
        return { version: await readOne(tx, orgId, id) };
      },
      { plans: "walks" },
    );
  };
}

function requireStage(stage: string): void {
  if (MODEL_STAGES.some((known) => known === stage)) return;
  throw badRequest(`stage must be one of ${MODEL_STAGES.join(", ")}`, "stage");
}

/** RegistryService.DeleteRegisteredVersion. @throws not_found */
export function deleteRegisteredVersion({
  db,
}: Pick<ArtifactsDeps, "db">): RegistryHandlers["deleteRegisteredVersion"] {
  return (request, call) => {
    const caller = callerOf(call);
    return db.withTenant(
      caller.orgId,
      async (tx) => {
        const registered = await requireRegistered(tx, caller, request.name, "locked");
        const id = await requireVersionId(tx, caller, registered, request.number);
        await deleteVersionRow(tx, caller.orgId, id);
        await touchRegistered(tx, caller.orgId, registered.id);
        return {};
      },
      { plans: "walks" },
    );
  };
}

/** No registered model has a version with a higher number. */
const NUMBER_MAX = 2 ** 31 - 1;

/** Returns the id of a version that the caller may see. @throws not_found */
export async function requireVersionId(
  tx: Tx,
  { orgId, projectId }: Caller,
  { id: registeredId }: Pick<RegisteredRow, "id">,
  number: number,
): Promise<string> {
  const id = number > NUMBER_MAX ? undefined : await findVersionId(tx, orgId, projectId, { registeredId, number });
  if (id === undefined) throw notFound(VERSION);
  return id;
}

/** Returns a version that is known to exist. */
async function requireRow(tx: Tx, orgId: string, id: string): Promise<RegisteredVersionRow> {
  const [row] = await readVersionsOf(tx, orgId, [id]);
  if (row === undefined) throw new Error("a version that was found is missing");
  return row;
}

async function readOne(tx: Tx, orgId: string, id: string) {
  return encodeRegisteredVersion(await requireRow(tx, orgId, id));
}

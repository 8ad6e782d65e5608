import { AppError, badRequest, notFound } from "@tidemark/errors";
import { REGISTRY } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { type Caller, callerOf, refuseUnpaid } from "@tidemark/requests";
import type { ArtifactsDeps, RegistryHandlers } from "../deps.ts";
import { changed, requireShort, requireSmall, requireTexts } from "../query/text-map.rules.ts";
import { encodeRegistered } from "./encode-registered.ts";
import {
  deleteRegisteredRow,
  findRegistered,
  insertRegistered,
  listAliases,
  lockRegistered,
  type RegisteredRow,
  updateRegisteredRow,
} from "./registered-models.sql.ts";
import { listLatest, readVersionsOf } from "./registered-versions.sql.ts";

/** The name of a registered model in errors. */
const REGISTERED = "registered model";

/** RegistryService.CreateRegisteredModel. @throws bad_request, conflict, payment_required, plan_limit_exceeded */
export function createRegisteredModel(
  deps: Pick<ArtifactsDeps, "db" | "newId" | "gate">,
): RegistryHandlers["createRegisteredModel"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId, projectId = null } = caller;
    const name = requireName(request.name);
    const description = requireShort(request.description, REGISTRY.descriptionBytesMax, "description");
    const { tags } = request;
    requireTexts(tags, "tags", Infinity);
    const bytes = requireSmall(tags) + Buffer.byteLength(description);
    refuseUnpaid(caller);
    await deps.gate.admit(caller, bytes);
    const row = await deps.db.withTenant(orgId, (tx) =>
      insertRegistered(tx, orgId, { id: deps.newId(), name, projectId, description, tags }),
    );
    if (row === undefined) throw nameTaken(name);
    return { model: encodeRegistered(row, [], []) };
  };
}

function requireName(name: string): string {
  requireShort(name, REGISTRY.nameBytesMax, "name", 1);
  if (/[/:]/.test(name)) throw badRequest('name must not contain "/" or ":"', "name");
  return name;
}

function nameTaken(name: string): AppError {
  return new AppError("conflict", `the registered model ${JSON.stringify(name)} exists already`, { field: "name" });
}

/** RegistryService.GetRegisteredModel. @throws not_found */
export function getRegisteredModel({ db }: Pick<ArtifactsDeps, "db">): RegistryHandlers["getRegisteredModel"] {
  return (request, call) => {
    const caller = callerOf(call);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const row = await requireRegistered(tx, caller, request.name);
        return { model: await encodeWithVersions(tx, caller, row) };
      },
      { plans: "walks" },
    );
  };
}

/** RegistryService.UpdateRegisteredModel. @throws not_found, bad_request, conflict, payment_required, plan_limit_exceeded */
export function updateRegisteredModel({
  db,
  gate,
}: Pick<ArtifactsDeps, "db" | "gate">): RegistryHandlers["updateRegisteredModel"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    return db.withTenant(
      orgId,
      async (tx) => {
        const row = await requireRegistered(tx, caller, request.name, "locked");
        const name = request.newName === undefined ? row.name : requireName(request.newName);
        const { description = row.description, setTags, removedTags } = request;
        requireShort(description, REGISTRY.descriptionBytesMax, "description");
        requireTexts(setTags, "tags", Infinity);
        const tags = changed(row.tags, setTags, removedTags);
        const growth =
          requireSmall(tags) +
          Buffer.byteLength(description) -
          requireSmall(row.tags) -
          Buffer.byteLength(row.description);
        refuseUnpaid(caller);
        if (growth > 0) await gate.admit(caller, growth);
        const after = await updateRegisteredRow(tx, orgId, { id: row.id, name, description, tags });
        if (after === undefined) throw nameTaken(name);
        return { model: await encodeWithVersions(tx, caller, after) };
      },
      { plans: "walks" },
    );
  };
}

/** RegistryService.DeleteRegisteredModel. @throws not_found */
export function deleteRegisteredModel({ db }: Pick<ArtifactsDeps, "db">): RegistryHandlers["deleteRegisteredModel"] {
  return (request, call) => {
    const caller = callerOf(call);
    return db.withTenant(
      caller.orgId,
      async (tx) => {
        const row = await requireRegistered(tx, caller, request.name, "locked");
        await deleteRegisteredRow(tx, caller.orgId, row.id);
        return {};
      },
      { plans: "walks" },
    );
  };
}

/** Returns a registered model that the caller may see, on request locked. @throws not_found */
export async function requireRegistered(
  tx: Tx,
  { orgId, projectId }: Caller,
  name: string,
  how: "read" | "locked" = "read",
): Promise<RegisteredRow> {
  if (name.includes("\0")) throw notFound(REGISTERED);
  const row = await (how === "locked" ? lockRegistered(tx, orgId, name) : findRegistered(tx, orgId, name));
  if (row === undefined || (projectId !== undefined && row.projectId !== projectId)) throw notFound(REGISTERED);
  return row;
}

async function encodeWithVersions(tx: Tx, { orgId, projectId }: Caller, row: RegisteredRow) {
  const latest = await listLatest(tx, orgId, projectId, [row.id]);
  const versions = await readVersionsOf(
    tx,
    orgId,
    latest.map(({ id }) => id),
  );
  return encodeRegistered(row, await listAliases(tx, orgId, [row.id]), versions);
}

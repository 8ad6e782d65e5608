import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { artifactUri, RESERVED_OBJECTS_MAX, ROW_BYTES } from "@tidemark/limits";
import { isAnswered, type Tx, withIdempotency } from "@tidemark/pg";
import {
  admitWrite,
  callerOf,
  isPlanRefusal,
  isUuid,
  pathId,
  refuseUnpaid,
  throwFault,
  type Caller,
} from "@tidemark/requests";
import { ArtifactSchema } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import {
  giveUpObjects,
  keepObjects,
  reserveObjects as insertObjects,
  type WrittenObject,
} from "../objects/objects.sql.ts";
import { discardObject } from "../sweep/sweep.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { type ArtifactFacts, readFacts, readSize, requireText, unknownSizesOf } from "./artifact-input.rules.ts";
import { type ArtifactRow, countArtifact, insertArtifact } from "./artifacts.sql.ts";
import { encodeArtifact, forgetArtifacts } from "./artifacts.ts";
import { lockName, spanOfName, takeArtifactsBetween } from "./files.sql.ts";
import { requireUpload, requireUploading, UPLOAD } from "../uploads/renew-parts.ts";

type Deps = Pick<ArtifactsDeps, "db" | "runs" | "newId" | "storageBackend" | "blob" | "gate">;
type Request = Parameters<ArtifactsHandlers["storeArtifact"]>[0];

const ROUTE = "POST /api/runs/{run_id}/artifacts/upload";

/**
 * ArtifactsService.StoreArtifact: turns a written object into an artifact. A repeat under one key gets the first answer; its object is
 * given up. On request, it takes the place of the artifacts of the run with its name. When it is refused because of its size, its bytes are removed before the answer.
 * @throws not_found, then bad_request, then idempotency_key_reused, idempotency_in_progress, payment_required, plan_limit_exceeded, service_unavailable
 *   when the object was swept meanwhile
 */
export function storeArtifact(deps: Deps): ArtifactsHandlers["storeArtifact"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    const facts = await readFacts(request.artifact);
    const object = readObject(request);
    const { idempotencyKey: key } = request;
    const keyed = key === "" ? undefined : { key, route: ROUTE, parts: partsOf(runId, facts, object) };
    const storing = withIdempotency(
      deps.db,
      orgId,
      keyed,
      async () => {},
      async (tx) => {
        refuseUnpaid(caller);
        await deps.gate.admit(caller, object.sizeBytes + ROW_BYTES.artifacts);
        const row = await store(tx, deps, orgId, { runId, projectId, facts, object, replace: request.replace });
        return toBinary(ArtifactSchema, create(ArtifactSchema, encodeArtifact(row)));
      },
      request.replace ? { plans: "walks" } : {},
    );
    const { reply, replayed } = await storing.catch(async (error: unknown) => {
      if (isPlanRefusal(error)) await discardObject(deps, { orgId, id: object.objectId });
      throw error;
    });
    // A request that this service gets twice names one object twice; then the object is not given up but kept.
    if (replayed) await deps.db.withTenant(orgId, (tx) => giveUpObjects(tx, orgId, [object.objectId]));
    return { artifact: fromBinary(ArtifactSchema, reply), replayed };
  };
}

function readObject({ object }: Request): WrittenObject {
  if (object === undefined || !isUuid(object.objectId) || object.sha256.length !== 32) {
    throw badRequest("content_base64 is required", "content_base64");
  }
  return { objectId: object.objectId, sizeBytes: Number(object.sizeBytes), sha256: object.sha256 };
}

/** The identity of a request. It leaves out the object, because each request has its own. */
function partsOf(runId: string, facts: ArtifactFacts, { sizeBytes, sha256 }: WrittenObject): (string | Uint8Array)[] {
  const { name, type, step, mimeType, metadataFingerprint } = facts;
  return [runId, JSON.stringify({ name, type, step, mimeType, sizeBytes }), metadataFingerprint, sha256];
}

type NewArtifact = {
  readonly runId: string;
  readonly projectId: string;
  readonly facts: ArtifactFacts;
  readonly object: WrittenObject;
  readonly replace: boolean;
};

/** As many as there are. */
const ALL = 2 ** 31;

async function store(
  tx: Tx,
  { newId, storageBackend }: Pick<Deps, "newId" | "storageBackend">,
  orgId: string,
  { runId, projectId, facts, object, replace }: NewArtifact,
): Promise<ArtifactRow> {
  const { metadataFingerprint: _, ...told } = facts;
  const { sizeBytes } = object;
  if (replace) await lockName(tx, orgId, runId, facts.name);
  const objectId = (await keepObjects(tx, orgId, [object])).get(object.objectId)!;
  const replaced = replace ? await takeArtifactsBetween(tx, orgId, runId, spanOfName(facts.name), ALL) : [];
  const id = newId();
  const row = await insertArtifact(tx, orgId, {
    ...told,
    id,
    runId,
    projectId,
    uri: artifactUri(id),
    sizeBytes,
    sha256: Buffer.from(object.sha256).toString("hex"),
    storageBackend,
    objectId,
  });
  await countArtifact(tx, orgId, row, 1);
  await addStorage(tx, orgId, { artifacts: 1, artifactBytes: sizeBytes });
  await forgetArtifacts(tx, orgId, runId, replaced);
  return row;
}

/** ArtifactsService.CreateArtifact: an artifact whose bytes are elsewhere. @throws not_found, bad_request, payment_required, plan_limit_exceeded */
export function createArtifact(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">,
): ArtifactsHandlers["createArtifact"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    const { metadataFingerprint: _, ...facts } = await readFacts(request.artifact);
    const artifact = {
      ...facts,
      id: deps.newId(),
      runId,
      projectId,
      uri: requireText(request.uri, "uri"),
      sizeBytes: readSize(request.sizeBytes),
      sha256: request.sha256 ?? null,
      storageBackend: "external" as const,
      objectId: null,
    };
    refuseUnpaid(caller);
    await deps.gate.admit(caller, ROW_BYTES.artifacts);
    const row = await deps.db.withTenant(orgId, async (tx) => {
      const made = await insertArtifact(tx, orgId, artifact);
      await countArtifact(tx, orgId, made, 1);
      await addStorage(tx, orgId, { artifacts: 1, unknownSizes: unknownSizesOf([made]) });
      return made;
    });
    return { artifact: encodeArtifact(row) };
  };
}

/** Seconds within which an object must be attached to an artifact or a version. */
export const SWEEP_SECONDS = 3600;

/**
 * ArtifactsService.ReserveObjects: for a run that the caller may see, or for an upload that may still be completed. A completed upload may be completed
 * again, so it gets objects too; they are swept. Objects for a run need admission; objects for an upload were admitted when it began.
 * @throws not_found, gone for an upload that has expired, conflict for one that was given up, bad_request, payment_required, plan_limit_exceeded,
 *   idempotency_in_progress
 */
export function reserveObjects(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">,
): ArtifactsHandlers["reserveObjects"] {
  return async ({ owner, count, bytes, writerKey }, call) => {
    const caller = callerOf(call);
    if (owner.case === "runId") await deps.runs.require(caller, [pathId(owner.value, "run")]);
    const sessionId = owner.case === "uploadSessionId" ? pathId(owner.value, UPLOAD) : undefined;
    if (owner.case === undefined) throw badRequest("one of run_id and upload_session_id is required");
    const isCounted = count >= 1 && count <= RESERVED_OBJECTS_MAX;
    if (sessionId === undefined && isCounted) {
      await admitWrite(deps.gate, caller, Number(bytes), () => isAnswered(deps.db, caller.orgId, writerKey));
    }
    return deps.db.withTenant(caller.orgId, async (tx) => {
      if (sessionId !== undefined) await requireOpen(tx, caller, sessionId);
      if (!isCounted) {
        throw badRequest(`count must be a whole number from 1 to ${RESERVED_OBJECTS_MAX}`, "count");
      }
      const objectIds = Array.from({ length: count }, deps.newId);
      await insertObjects(tx, caller.orgId, objectIds, SWEEP_SECONDS);
      return { objectIds };
    });
  };
}

async function requireOpen(tx: Tx, caller: Caller, sessionId: string): Promise<void> {
  const upload = await requireUpload(tx, caller, sessionId);
  if (upload.state === "uploading" || upload.state === "failed") requireUploading(upload);
}

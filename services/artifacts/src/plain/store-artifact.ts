import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { artifactUri } from "@tidemark/limits";
import { withIdempotency, type Tx } from "@tidemark/pg";
import { isPlanRefusal } from "@tidemark/plan-limits";
import { ArtifactSchema } from "@tidemark/proto/artifacts/v1/artifacts";
import { ROW_BYTES } from "@tidemark/plans";
import { callerOf, isUuid, pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { giveUpObjects, keepObjects, type WrittenObject } from "../objects/objects.sql.ts";
import { discardObject } from "../sweep/remove-object.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { readFacts, type ArtifactFacts } from "./artifact-input.rules.ts";
import { countArtifact, insertArtifact, type ArtifactRow } from "./artifacts.sql.ts";
import { encodeArtifact } from "./encode-artifact.ts";

type Deps = Pick<ArtifactsDeps, "db" | "runs" | "newId" | "storageBackend" | "blob" | "gate">;
type Request = Parameters<ArtifactsHandlers["storeArtifact"]>[0];

const ROUTE = "POST /api/runs/{run_id}/artifacts/upload";

/**
 * ArtifactsService.StoreArtifact: turns a written object into an artifact. A repeat under one key gets the first answer; its object is
 * given up. When it is refused because of its size, its bytes are removed before the answer.
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
        const row = await store(tx, deps, orgId, { runId, projectId, facts, object });
        return toBinary(ArtifactSchema, create(ArtifactSchema, encodeArtifact(row)));
      },
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
};

async function store(
  tx: Tx,
  { newId, storageBackend }: Pick<Deps, "newId" | "storageBackend">,
  orgId: string,
  { runId, projectId, facts, object }: NewArtifact,
): Promise<ArtifactRow> {
  const { metadataFingerprint: _, ...told } = facts;
  const { sizeBytes } = object;
  const objectId = (await keepObjects(tx, orgId, [object])).get(object.objectId)!;
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
  return row;
}

import { createHash } from "node:crypto";
import type { ChangePublisher } from "@tidemark/bus";
import { fingerprintOf, parseExact } from "@tidemark/documents";
import { badRequest, notFound } from "@tidemark/errors";
import { idempotencyHashes, isAnswered, keyReused, type Db } from "@tidemark/pg";
import {
  admitWithin,
  callerOf,
  isUuid,
  pathId,
  refuseUnpaid,
  throwFault,
  type PlanGate,
  type RunDirectory,
} from "@tidemark/requests";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  CreateObjectRequest,
  CreateObjectRequestSchema,
  CreateObjectResponseSchema,
  TableChunk,
} from "@tidemark/proto/ingest/v1/objects";
import type { Handler } from "@tidemark/rpc";
import { finishInTurns, mapInTurns } from "@tidemark/work";
import type { IdSource } from "../writes/writes.rules.ts";
import { packChunk } from "./table-pack.ts";
import { createObject, readObjects } from "./objects.sql.ts";
import { encodeObject } from "./list-objects.ts";
import { checkObject, isMedia, summaryOf } from "./object.rules.ts";

const ROUTE = "POST /api/runs/{run_id}/objects";
const utf8 = new TextDecoder();

/**
 * IngestService.CreateObject. A repeat under one key gets the object in its current state: without its artifact, if that was deleted meanwhile.
 * @throws not_found, also of the artifact, then bad_request, payment_required, plan_limit_exceeded, idempotency_key_reused, idempotency_in_progress
 */
export function createObjectHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
  readonly storageGate: PlanGate;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof CreateObjectRequestSchema, typeof CreateObjectResponseSchema> {
  const { db, runs, ids, noteChange } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    checkObject(request);
    const { key, kind, artifactId } = request;
    if (artifactId !== "" && !isUuid(artifactId)) throw badRequest("artifact_id must be a UUID", "artifact_id");
    refuseUnpaid(caller);
    const chunks = await mapInTurns(request.chunks, packChunk);
    const summaryJson = summaryOf(request);
    const bytes = chunks.reduce(
      (sum, chunk) => sum + chunk.bytes,
      Buffer.byteLength(key) + request.valueJson.length + request.metadataJson.length + Buffer.byteLength(summaryJson),
    );
    const admitted = admitWithin(deps.storageGate, caller, bytes, () => isAnswered(db, orgId, request.idempotencyKey));
    if (admitted !== undefined) await admitted;
    const stored = await createObject(db, {
      orgId,
      runId,
      projectId,
      onlyProject: caller.projectId ?? null,
      idempotency:
        request.idempotencyKey === ""
          ? null
          : idempotencyHashes({ key: request.idempotencyKey, route: ROUTE, parts: await partsOf(runId, request) }),
      takeId: () => ids.take(1),
      kind,
      key,
      step: request.step ?? null,
      artifactId: artifactId === "" || kind === "histogram" ? null : artifactId,
      valueJson: isMedia(kind) ? null : utf8.decode(request.valueJson),
      metadataJson: utf8.decode(request.metadataJson),
      summaryJson,
      chunks,
    });
    if (stored.outcome === "reused") throw keyReused();
    if (stored.outcome === "no_artifact") throw notFound("artifact");
    if (stored.outcome === "other_run") {
      throw badRequest("artifact_id must be an artifact of the same run", "artifact_id");
    }
    if (stored.outcome !== "replayed") {
      noteChange({ orgId, projectId, runId, kind: ChangeKind.OBJECTS, keys: [key], step: request.step });
    }
    const [row] = await db.readTenant(orgId, (tx) => readObjects(tx, orgId, [stored.id]));
    return { object: encodeObject(orgId, row!), replayed: stored.outcome === "replayed" };
  };
}

/** The identity of a request, regardless of the order of its keys. */
async function partsOf(runId: string, request: CreateObjectRequest): Promise<(string | Uint8Array)[]> {
  const { key, kind, step, artifactId } = request;
  const documents = [request.metadataJson, request.summaryJson, request.valueJson];
  const fingerprints = await mapInTurns(documents, (bytes) =>
    bytes.length === 0 ? bytes : fingerprintOf(parseExact(utf8.decode(bytes))),
  );
  const facts = JSON.stringify([key, kind, step ?? null, artifactId]);
  return [runId, facts, ...fingerprints, ...(await finishInTurns(hashSteps(request.chunks)))];
}

/** Hashes the cells of chunks by the names of their columns. */
function* hashSteps(chunks: readonly TableChunk[]): Generator<void, Uint8Array[]> {
  const hashes: Uint8Array[] = [];
  for (const { names, shapes, rowShapes, rowCount, columns } of chunks) {
    const hash = createHash("sha256");
    hash.update(`${rowCount}`);
    const having = shapes.map((shape) => new Set(shape.names));
    const order = names.map((_, i) => i).toSorted((a, b) => (names[a]! < names[b]! ? -1 : 1));
    for (const column of order) {
      hash.update(JSON.stringify(names[column]));
      if (shapes.length > 1) hash.update(rowShapes.map((shape) => (having[shape]!.has(column) ? "1" : "0")).join(""));
      hash.update(columns[column]!);
      yield;
    }
    hashes.push(hash.digest());
  }
  return hashes;
}

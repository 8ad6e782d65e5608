import { createHash } from "node:crypto";
import { badRequest } from "@tidemark/errors";
import { COLLECTION_TYPES, ENTRY_PATH_BYTES_MAX, MANIFEST_ENTRIES_MAX } from "@tidemark/limits";
import { type Tx, withIdempotency } from "@tidemark/pg";
import type { ImportArtifactsRequest, ImportedArtifact } from "@tidemark/proto/artifacts/v1/artifacts";
import { callerOf, pathId } from "@tidemark/requests";
import { ensureCollection } from "../collections/collections.sql.ts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { digestManifest } from "../uploads/completion.rules.ts";
import { createOrReuseVersion } from "../uploads/store-version.ts";
import { type ArtifactFacts, readFacts, readSize, requireText, unknownSizesOf } from "./artifact-input.rules.ts";
import { countArtifacts, insertExternalArtifacts } from "./artifacts.sql.ts";

const ROUTE = "ImportArtifacts";

/** An artifact to import, checked. */
type Imported = ArtifactFacts & { readonly uri: string; readonly sizeBytes: number | null; readonly path: string };

/** ArtifactsService.ImportArtifacts. @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress */
export function importArtifacts(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId">,
): ArtifactsHandlers["importArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    const { artifacts, idempotencyKey: key, collectionName, collectionType } = request;
    if (key === "") throw badRequest("an idempotency key is needed", "idempotency_key");
    if (artifacts.length < 1 || artifacts.length > MANIFEST_ENTRIES_MAX) {
      throw badRequest(`artifacts must have 1 to ${MANIFEST_ENTRIES_MAX} items`, "artifacts");
    }
    requireText(collectionName, "collection_name");
    if (!COLLECTION_TYPES.some((type) => type === collectionType)) {
      throw badRequest(`collection_type must be one of ${COLLECTION_TYPES.join(", ")}`, "collection_type");
    }
    const imported: Imported[] = [];
    for (const artifact of artifacts) imported.push(await readImported(artifact));
    if (new Set(imported.map(({ path }) => path)).size < imported.length) {
      throw badRequest("paths must be different", "artifacts");
    }
    const { replayed } = await withIdempotency(
      deps.db,
      caller.orgId,
      { key, route: ROUTE, parts: [runId, collectionName, collectionType, fingerprintOf(imported)] },
      async () => {},
      async (tx) => {
        await store(tx, deps, caller.orgId, { request, runId, projectId, imported });
        return new Uint8Array();
      },
    );
    return { replayed };
  };
}

async function readImported({ artifact, uri, sizeBytes, path }: ImportedArtifact): Promise<Imported> {
  const pathBytes = Buffer.byteLength(path);
  if (pathBytes < 1 || pathBytes > ENTRY_PATH_BYTES_MAX) throw badRequest("path is empty or too long", "path");
  return { ...(await readFacts(artifact)), uri: requireText(uri, "uri"), sizeBytes: readSize(sizeBytes), path };
}

function fingerprintOf(imported: readonly Imported[]): Uint8Array {
  const hash = createHash("sha256");
  for (const { metadataFingerprint, metadata: _, ...told } of imported) {
    hash.update(JSON.stringify(told)).update(metadataFingerprint);
  }
  return hash.digest();
}

async function store(
  tx: Tx,
  { newId }: Pick<ArtifactsDeps, "newId">,
  orgId: string,
  asked: {
    readonly request: ImportArtifactsRequest;
    readonly runId: string;
    readonly projectId: string;
    readonly imported: readonly Imported[];
  },
): Promise<void> {
  const { request, runId, projectId, imported } = asked;
  await insertExternalArtifacts(
    tx,
    orgId,
    { runId, projectId },
    imported.map((artifact) => ({ ...artifact, id: newId() })),
  );
  await countArtifacts(
    tx,
    orgId,
    runId,
    imported.map(({ type }) => type),
  );
  const collection = await ensureCollection(tx, orgId, {
    id: newId(),
    projectId,
    type: request.collectionType,
    name: request.collectionName,
    description: null,
    metadata: "{}",
  });
  const entries = imported.map(({ path, mimeType, uri }) => ({
    path,
    kind: "reference",
    sizeBytes: undefined,
    sha256: undefined,
    mimeType,
    referenceUri: uri,
  }));
  const wanted = {
    collectionId: collection.id,
    projectId,
    runId,
    versionId: newId(),
    digest: digestManifest(entries).toString("hex"),
    aliases: [],
    ttlDays: null,
    sourceStep: null,
  };
  const files = entries.map((entry) => ({ ...entry, id: newId(), sizeBytes: null, sha256: null, objectId: null }));
  await createOrReuseVersion(tx, orgId, wanted, files, newId);
  await addStorage(tx, orgId, {
    artifacts: imported.length,
    unknownSizes: unknownSizesOf(imported),
    collections: collection.isNew ? 1 : 0,
  });
}

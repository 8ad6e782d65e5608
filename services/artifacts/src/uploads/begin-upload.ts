import { readDocument, writeCanonical } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { MANIFEST_ENTRIES_MAX, PARTS_PER_ANSWER_MAX } from "@tidemark/limits";
import { claimKey, idempotencyHashes, keepReply, type Tx } from "@tidemark/pg";
import type { BeginUploadRequest } from "@tidemark/proto/artifacts/v1/uploads";
import { type Caller, callerOf, pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import { ensureCollection } from "../collections/collections.sql.ts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { reserveObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { encodeVersion, requireStoredVersion } from "../versions/get-version.ts";
import { readVersions, selectVersion, type VersionRow } from "../versions/versions.sql.ts";
import { encodeSession } from "./renew-parts.ts";
import { digestManifest, type ManifestEntry } from "./completion.rules.ts";
import { openStoreUploads, ADDRESS_SECONDS } from "./part-addresses.ts";
import { findUpload, insertUpload, type UploadFileRow, type UploadSessionRow } from "./sessions.sql.ts";
import { createOrReuseVersion } from "./store-version.ts";
import { planUpload, reservedBytesOf } from "./upload-plan.rules.ts";

/** Seconds from the beginning of an upload to its end, whether or not it was completed. */
const SESSION_SECONDS = 60 * 60;

/** After the end of a session and the last address that was made in it, with room for a request that has begun. */
const SWEEP_AFTER_SECONDS = SESSION_SECONDS + 2 * ADDRESS_SECONDS;

/** The outcome of a request: a new or an open upload, or a version that needs no upload. */
type Begun =
  | { readonly kind: "session"; readonly session: UploadSessionRow; readonly replayed: boolean }
  | {
      readonly kind: "version";
      readonly version: VersionRow;
      readonly deduplicated: boolean;
      readonly replayed: boolean;
    };

/**
 * Begins a version of a collection (API specification, POST /api/runs/{run_id}/artifact-uploads; ADR 21). The collection is created here, even if the
 * upload never completes. A repeat with the same key has the same session while that is open, otherwise a new one under the same key.
 * @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress, payment_required, plan_limit_exceeded, service_unavailable
 */
export function beginUpload(deps: ArtifactsDeps): ArtifactsHandlers["beginUpload"] {
  const { db, runs, addresses } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    const projectId = await runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    if (request.entries.length < 1 || request.entries.length > MANIFEST_ENTRIES_MAX) {
      throw badRequest(`manifest.entries must have 1 to ${MANIFEST_ENTRIES_MAX} items`, "manifest");
    }
    const begun = await db.withTenant(caller.orgId, (tx) => begin(tx, deps, caller, { request, runId, projectId }));
    if (begun.kind === "version") {
      const { version, deduplicated, replayed } = begun;
      return { version: encodeVersion(version), deduplicated, replayed };
    }
    const { session, replayed } = begun;
    const holder = { baseUrl: request.baseUrl, identity: call.identity! };
    const files = await openStoreUploads(deps, session);
    return {
      session: encodeSession(session),
      files: await Promise.all(
        files.map(async (file) => ({
          entryId: file.id,
          path: file.path,
          uploadKind: file.uploadKind!,
          partSizeBytes: BigInt(session.partSizeBytes),
          partCount: file.partCount,
          parts: await addresses(session, file, { first: 1, count: PARTS_PER_ANSWER_MAX }, holder),
        })),
      ),
      replayed,
    };
  };
}

type WantedUpload = { readonly request: BeginUploadRequest; readonly runId: string; readonly projectId: string };

async function begin(tx: Tx, deps: ArtifactsDeps, caller: Caller, wanted: WantedUpload): Promise<Begun> {
  const { orgId } = caller;
  const { request, runId } = wanted;
  const entries = request.entries.map(readEntry);
  const digest = digestManifest(entries);
  const metadata = writeCanonical(readDocument(request.metadataJson, "collection.metadata"));
  if (request.idempotencyKey === "") return start(tx, deps, caller, wanted, { entries, digest, metadata });
  const hashes = idempotencyHashes({
    key: request.idempotencyKey,
    route: "POST /api/runs/{run_id}/artifact-uploads",
    parts: [runId, bodyOf(request, digest, entries, metadata)],
  });
  const before = await claimKey(tx, orgId, hashes);
  const known = before === undefined ? undefined : await replay(tx, orgId, before);
  if (known !== undefined) return known;
  const begun = await start(tx, deps, caller, wanted, { entries, digest, metadata });
  const kept: Kept =
    begun.kind === "session"
      ? { session: begun.session.id }
      : { version: begun.version.id, deduplicated: begun.deduplicated };
  await keepReply(tx, orgId, hashes, Buffer.from(JSON.stringify(kept)));
  return begun;
}

/** The part of an answer that is kept under its key. */
type Kept = { readonly session: string } | { readonly version: string; readonly deduplicated: boolean };

/** Returns the answer of an earlier request, unless its upload has ended since. */
async function replay(tx: Tx, orgId: string, reply: Uint8Array): Promise<Begun | undefined> {
  const kept = JSON.parse(Buffer.from(reply).toString()) as Kept;
  if ("session" in kept) {
    const session = await findUpload(tx, orgId, kept.session);
    if (session?.state !== "uploading" || session.hasExpired) return undefined;
    return { kind: "session", session, replayed: true };
  }
  const [version] = await readVersions(tx, orgId, [kept.version]);
  if (version?.available !== true) return undefined;
  return { kind: "version", version, deduplicated: kept.deduplicated, replayed: true };
}

type Manifest = { readonly entries: readonly ManifestEntry[]; readonly digest: Buffer; readonly metadata: string };

async function start(
  tx: Tx,
  { newId, gate }: ArtifactsDeps,
  caller: Caller,
  { request, runId, projectId }: WantedUpload,
  { entries, digest, metadata }: Manifest,
): Promise<Begun> {
  const { orgId } = caller;
  refuseUnpaid(caller);
  const collection = await ensureCollection(tx, orgId, {
    id: newId(),
    projectId,
    type: request.collectionType,
    name: request.collectionName,
    description: request.description ?? null,
    metadata,
  });
  const wanted = {
    collectionId: collection.id,
    projectId,
    runId,
    versionId: newId(),
    digest: digest.toString("hex"),
    aliases: request.aliases,
    ttlDays: request.ttlDays ?? null,
    sourceStep: request.sourceStep ?? null,
  };
  const newestId = await selectVersion(tx, orgId, collection.id, { kind: "latest" });
  const newest = newestId === undefined ? undefined : await requireStoredVersion(tx, orgId, newestId);
  const withBytes = entries.filter(({ referenceUri }) => referenceUri === undefined);
  const isKnown = newest?.digest === wanted.digest;
  if (isKnown || withBytes.length === 0) {
    const files = entries.map((entry) => ({ ...rowOf(entry), id: newId(), objectId: null }));
    const { versionId, deduplicated } = await createOrReuseVersion(tx, orgId, wanted, files, newId);
    if (collection.isNew) await addStorage(tx, orgId, { collections: 1 });
    return {
      kind: "version",
      version: await requireStoredVersion(tx, orgId, versionId),
      deduplicated,
      replayed: false,
    };
  }
  const plan = planUpload(withBytes.map(({ sizeBytes = 0 }) => sizeBytes));
  const files = entries.map((entry): Omit<UploadFileRow, "storeUploadId" | "verified"> => {
    const planned = plan.files[withBytes.indexOf(entry)];
    return {
      ...rowOf(entry),
      id: newId(),
      uploadKind: planned?.uploadKind ?? null,
      partCount: planned?.partCount ?? 0,
      // Objects of inline files are made when their bytes arrive.
      objectId: planned === undefined || planned.uploadKind === "inline" ? null : newId(),
    };
  });
  const reservedBytes = reservedBytesOf(files);
  await gate.admit(caller, reservedBytes);
  const objectIds = files.flatMap(({ objectId }) => objectId ?? []);
  const session = await insertUpload(
    tx,
    orgId,
    { ...wanted, digest, id: newId(), partSizeBytes: plan.partSizeBytes, lifeSeconds: SESSION_SECONDS },
    files,
  );
  await reserveObjects(tx, orgId, objectIds, SWEEP_AFTER_SECONDS);
  await addStorage(tx, orgId, { reservedBytes, collections: collection.isNew ? 1 : 0 });
  return { kind: "session", session, replayed: false };
}

function readEntry(entry: BeginUploadRequest["entries"][number]): ManifestEntry {
  const { path, kind, sizeBytes, sha256, mimeType, referenceUri } = entry;
  if (referenceUri === undefined && (sizeBytes === undefined || sha256 === undefined)) {
    throw badRequest("manifest.entries need size_bytes and sha256 or reference_uri", "manifest");
  }
  return {
    path,
    kind,
    sizeBytes: sizeBytes === undefined ? undefined : Number(sizeBytes),
    sha256,
    mimeType,
    referenceUri,
  };
}

function rowOf({ path, kind, sizeBytes, sha256, mimeType, referenceUri }: ManifestEntry) {
  return {
    path,
    kind,
    sizeBytes: sizeBytes ?? null,
    sha256: sha256 ?? null,
    mimeType,
    referenceUri: referenceUri ?? null,
    uploadKind: null,
    partCount: 0,
  };
}

/** Returns the fingerprint by which two requests with one key are compared. */
function bodyOf(
  request: BeginUploadRequest,
  digest: Buffer,
  entries: readonly ManifestEntry[],
  metadata: string,
): string {
  const { collectionName, collectionType, description = null, aliases, ttlDays = null, sourceStep = null } = request;
  const types = entries.map(({ path, mimeType }) => [path, mimeType]).toSorted(([a], [b]) => (a! < b! ? -1 : 1));
  return JSON.stringify([
    collectionName,
    collectionType,
    description,
    metadata,
    digest.toString("hex"),
    types,
    [...aliases].toSorted(),
    ttlDays,
    sourceStep,
  ]);
}

import { createHash, randomUUID } from "node:crypto";
import { createFolderBlob, type Blob } from "@tidemark/blob";
import { AppError, badRequest, notFound } from "@tidemark/errors";
import { ArtifactsService, type StoreArtifactRequest } from "@tidemark/proto/artifacts/v1/artifacts";
import type { CompleteUploadRequest } from "@tidemark/proto/artifacts/v1/uploads";
import { CallerKind, type FieldFault } from "@tidemark/proto/common/v1/common";
import { createLocalClient, implement, type Handlers } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { orgId } from "../../app.fixture.ts";

/** The run and the upload that exist. */
export const runId = "0c9b8a1e-1111-4222-8333-444455556666";
export const sessionId = "0c9b8a1e-1111-4222-8333-444455557777";
export const partToken = "tm_up_part.1";
export const partId = "0c9b8a1e-1111-4222-8333-44445555aaaa";
export const PART_BYTES = 300_000;
/** The id of the API key that got the address of the part. */
export const senderId = "000000000000";

/** What a service would remember. */
export type Memory = {
  readonly reserved: string[];
  readonly stored: StoreArtifactRequest[];
  readonly completed: CompleteUploadRequest[];
  /** Files by artifact or entry id. */
  readonly files: Map<string, { objectId: string; sizeBytes: bigint; mimeType: string; name: string }>;
};

/** A service that reserves, remembers what it receives and finds what a test put there. */
export function createTestArtifacts(): { clients: Clients; memory: Memory } {
  const memory: Memory = { reserved: [], stored: [], completed: [], files: new Map() };
  const fail = (fault: FieldFault | undefined): void => {
    if (fault !== undefined) throw badRequest(fault.text, fault.field || undefined);
  };
  const locate = async (id: string) => {
    const found = memory.files.get(id);
    if (found === undefined) throw notFound("artifact");
    return found;
  };
  const handlers: Partial<Handlers<(typeof ArtifactsService)["method"]>> = {
    async reserveObjects({ owner, count }) {
      if (owner.value !== runId && owner.value !== sessionId) throw notFound("run");
      const objectIds = Array.from({ length: count }, () => randomUUID());
      memory.reserved.push(...objectIds);
      return { objectIds };
    },
    async storeArtifact(request) {
      if (request.runId !== runId) throw notFound("run");
      fail(request.bodyFault);
      memory.stored.push(request);
      const { object, artifact } = request;
      return {
        replayed: request.idempotencyKey === "again",
        artifact: {
          id: randomUUID(),
          orgId,
          runId,
          type: artifact!.type,
          name: artifact!.name,
          uri: "instantml://artifacts/x",
          sizeBytes: object!.sizeBytes,
          sha256: Buffer.from(object!.sha256).toString("hex"),
          mimeType: artifact!.mimeType,
          storageBackend: "local",
          metadataJson: artifact!.metadataJson,
          createdAt: "2026-01-02T03:04:05Z",
        },
      };
    },
    async completeUpload(request) {
      if (request.uploadSessionId !== sessionId) throw notFound("upload");
      fail(request.bodyFault);
      memory.completed.push(request);
      return { version: { id: randomUUID(), versionIndex: 0, state: "active" }, deduplicated: false };
    },
    async locatePart({ token }) {
      if (token === "expired") throw new AppError("gone", "the address has expired");
      if (token !== partToken) throw notFound("address");
      const sender = { callerKind: CallerKind.API_KEY, credentialId: senderId };
      return { orgId, objectId: partId, storeUploadId: "u", partNumber: 1, sizeBytes: BigInt(PART_BYTES), ...sender };
    },
    locateArtifact: ({ artifactId }) => locate(artifactId),
    locateEntry: ({ entryId }) => locate(entryId),
  };
  const missing = Object.fromEntries(
    Object.keys(ArtifactsService.method).map((name) => [
      name,
      () => Promise.reject(new Error(`${name} is not for tests`)),
    ]),
  );
  const all = { ...missing, ...handlers } as Handlers<(typeof ArtifactsService)["method"]>;
  const artifacts = createLocalClient(ArtifactsService, implement(ArtifactsService, all));
  return { clients: { artifacts } as Clients, memory };
}

/** A store in a folder in which each part is a separate object. */
export function createTestStore(directory: string): Blob {
  const folder = createFolderBlob({ directory });
  return {
    ...folder,
    putPart: async (key, _uploadId, _partNumber, body, { size }) => {
      const { etag } = await folder.put(key, body, { size });
      return { etag };
    },
  };
}

/** Reads a whole object. */
export async function readObject(store: Blob, objectId: string): Promise<Buffer | undefined> {
  const found = await store.get(store.keyOf(orgId, objectId));
  return found && Buffer.concat(await Array.fromAsync(found.body));
}

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

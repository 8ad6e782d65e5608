import { createHash, randomBytes } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CompletedFileSchema,
  type BeginUploadRequestSchema,
  type BeginUploadResponse,
  type CompleteUploadResponse,
  type UploadFile,
} from "@tidemark/proto/artifacts/v1/uploads";
import { createCall, type Call } from "@tidemark/rpc";
import type { ArtifactsClient, ArtifactsFixture } from "../artifacts.fixture.ts";

/** A file to upload. */
export type Content = { readonly path: string; readonly bytes: Uint8Array };

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** Bytes unlike those of any other file. */
export const content = (path: string, size: number): Content => ({ path, bytes: randomBytes(size) });

/** The entry of a file in a manifest. */
export const entryOf = ({ path, bytes }: Content) => ({
  path,
  kind: "file",
  sizeBytes: BigInt(bytes.length),
  sha256: sha256(bytes).toString("hex"),
  mimeType: "application/octet-stream",
});

/** A request that begins an upload of files to the collection `model/policy`. */
export const beginning = (
  runId: string,
  files: readonly Content[],
  more: MessageInitShape<typeof BeginUploadRequestSchema> = {},
): MessageInitShape<typeof BeginUploadRequestSchema> => ({
  runId,
  collectionName: "policy",
  collectionType: "model",
  entries: files.map(entryOf),
  baseUrl: "http://tidemark.example",
  ...more,
});

/** Sends one part to its address, like a gateway. */
export async function sendPart(
  { deps, client }: Pick<ArtifactsFixture, "deps" | "client">,
  url: string,
  bytes: Uint8Array,
): Promise<string> {
  const token = decodeURIComponent(new URL(url).pathname.split("/").at(-1)!);
  const part = await client.locatePart({ token }, call());
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const key = deps.blob.keyOf(part.orgId, part.objectId);
  const size = Number(part.sizeBytes);
  return (await deps.blob.putPart(key, part.storeUploadId, part.partNumber, body(), { size })).etag;
}

/** A caller with only a token. */
const call = (): Call => createCall({ timeoutMs: 600_000 });

/** Sends the bytes of a file, but not those of `skip` parts, and returns its data for `complete`. */
export async function sendFile(
  fixture: ArtifactsFixture,
  tenant: { readonly orgId: string; readonly projectId: string },
  { entryId, uploadKind, partSizeBytes, parts }: UploadFile,
  { bytes }: Content,
  skip: readonly number[] = [],
) {
  if (uploadKind === "inline") {
    const { objectId, sizeBytes, sha256: hash } = await fixture.written(tenant, bytes);
    return create(CompletedFileSchema, { entryId, inline: { objectId, sizeBytes, sha256: hash } });
  }
  const size = uploadKind === "put" ? bytes.length : Number(partSizeBytes);
  const sent: { partNumber: number; etag: string }[] = [];
  for (const { partNumber, url } of parts) {
    if (skip.includes(partNumber)) continue;
    const piece = bytes.subarray((partNumber - 1) * size, partNumber * size);
    sent.push({ partNumber, etag: await sendPart(fixture, url, piece) });
  }
  return create(CompletedFileSchema, { entryId, parts: sent });
}

/** Uploads files as a version, from begin to complete. */
export async function upload(
  fixture: ArtifactsFixture,
  tenant: { readonly orgId: string; readonly projectId: string },
  as: Call,
  begun: BeginUploadResponse,
  files: readonly Content[],
  client: ArtifactsClient = fixture.client,
): Promise<CompleteUploadResponse> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const sent = [];
  for (const file of begun.files) sent.push(await sendFile(fixture, tenant, file, byPath.get(file.path)!));
  return client.completeUpload({ uploadSessionId: begun.session!.id, files: sent }, as);
}

import { fingerprintInTurns, readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { ARTIFACT_TYPES } from "@tidemark/limits";
import type { ArtifactInput } from "@tidemark/proto/artifacts/v1/artifacts";

export type ArtifactType = (typeof ARTIFACT_TYPES)[number];

/** A client's description of an artifact, checked. */
export type ArtifactFacts = {
  readonly name: string;
  readonly type: ArtifactType;
  readonly step: number | null;
  readonly mimeType: string;
  /** JSON object with its numbers as they were sent. */
  readonly metadata: string;
  /** Equal for equal metadata, regardless of the order of its keys. */
  readonly metadataFingerprint: Uint8Array;
};

const TEXT_BYTES_MAX = 512;

/** Requires a text of 1 to 512 bytes. @throws bad_request */
export function requireText(text: string, field: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= TEXT_BYTES_MAX) return text;
  throw badRequest(`${field} must have 1 to ${TEXT_BYTES_MAX} bytes`, field);
}

/** Reads a client's description of an artifact, large metadata in turns with other work. @throws bad_request, deadline_exceeded */
export async function readFacts(input: ArtifactInput | undefined): Promise<ArtifactFacts> {
  if (input === undefined) throw badRequest("artifact is required");
  const type = ARTIFACT_TYPES.find((known) => known === input.type);
  if (type === undefined) throw badRequest(`type must be one of ${ARTIFACT_TYPES.join(", ")}`, "type");
  const { step = null } = input;
  if (step !== null && !(Number.isFinite(step) && step >= 0)) {
    throw badRequest("step must be a finite number from 0", "step");
  }
  const metadata = await readDocumentInTurns(input.metadataJson, "metadata");
  return {
    name: requireText(input.name, "name"),
    type,
    step,
    mimeType: requireText(input.mimeType, "mime_type"),
    metadata: await writeCanonicalInTurns(metadata),
    metadataFingerprint: await fingerprintInTurns(metadata),
  };
}

/** Returns how many of some artifacts came without a size. */
export function unknownSizesOf(artifacts: readonly { readonly sizeBytes: number | null }[]): number {
  return artifacts.filter(({ sizeBytes }) => sizeBytes === null).length;
}

/** Reads a size that a client announced. @throws bad_request for one that a double cannot hold */
export function readSize(size: bigint | undefined): number | null {
  if (size === undefined) return null;
  if (size <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(size);
  throw badRequest("size_bytes is too large", "size_bytes");
}

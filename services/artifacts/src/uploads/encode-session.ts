import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UploadSessionSchema } from "@tidemark/proto/artifacts/v1/uploads";
import type { UploadSessionRow } from "./sessions.sql.ts";

/** Encodes an upload; its version exists when it is `active`. */
export function encodeSession(
  session: Pick<UploadSessionRow, "id" | "versionId" | "expiresAt" | "partSizeBytes" | "state">,
): MessageInitShape<typeof UploadSessionSchema> {
  const { id, versionId, expiresAt, partSizeBytes, state } = session;
  return { id, versionId, expiresAt, partSizeBytes: BigInt(partSizeBytes), state };
}

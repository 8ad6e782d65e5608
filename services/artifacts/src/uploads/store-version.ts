import type { Tx } from "@tidemark/pg";
import { moveAliases, touchCollection } from "../collections/aliases.sql.ts";
import { keepObjects } from "../objects/objects.sql.ts";
import { createVersion } from "../versions/create-version.sql.ts";
import { addOutputEdge, findVersionByDigest } from "./known-version.sql.ts";
import type { UploadFileRow } from "./sessions.sql.ts";

/** The version that an upload is to become. `digest` is 64 hexadecimal digits. */
export type WantedVersion = {
  readonly collectionId: string;
  readonly projectId: string;
  readonly runId: string;
  readonly versionId: string;
  readonly digest: string;
  readonly aliases: readonly string[];
  readonly ttlDays: number | null;
  readonly sourceStep: number | null;
};

/** An entry whose bytes, if it has any, are verified and in `objectId`. */
export type VerifiedFile = Pick<
  UploadFileRow,
  "id" | "path" | "kind" | "sizeBytes" | "sha256" | "mimeType" | "referenceUri" | "objectId"
>;

/**
 * Makes a version of the verified files, or finds the one of the collection that has the same manifest: then the aliases point at it, the run counts as
 * one that made it, and the objects are left alone. The collection is locked; the caller counts storage afterwards.
 * Fails with SQLSTATE TM002 if an object was given up in the meantime.
 */
export async function createOrReuseVersion(
  tx: Tx,
  orgId: string,
  wanted: WantedVersion,
  files: readonly VerifiedFile[],
  newId: () => string,
): Promise<{ readonly versionId: string; readonly deduplicated: boolean }> {
  const { collectionId, projectId, runId, digest, aliases } = wanted;
  const known = await findVersionByDigest(tx, orgId, collectionId, digest);
  if (known !== undefined) {
    await moveAliases(tx, orgId, collectionId, aliases, known);
    await addOutputEdge(tx, orgId, { id: newId(), runId, versionId: known, projectId });
    await touchCollection(tx, orgId, collectionId);
    return { versionId: known, deduplicated: true };
  }
  const kept = await keepObjects(
    tx,
    orgId,
    files.flatMap(({ objectId, sizeBytes, sha256 }) =>
      objectId === null ? [] : { objectId, sizeBytes: sizeBytes!, sha256: Buffer.from(sha256!, "hex") },
    ),
  );
  const { versionId } = await createVersion(tx, orgId, {
    ...wanted,
    sourceRunId: runId,
    digest: Buffer.from(digest, "hex"),
    entries: files.map((file) => ({ ...file, objectId: file.objectId === null ? null : kept.get(file.objectId)! })),
    newId,
  });
  return { versionId, deduplicated: false };
}

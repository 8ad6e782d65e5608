import type { Tx } from "@tidemark/pg";
import { moveAliases, touchCollection } from "../collections/aliases.sql.ts";
import { keepObjects } from "../objects/objects.sql.ts";
import { createVersion } from "../versions/create-version.sql.ts";
import { addEdge } from "../versions/edges.sql.ts";
import { findVersionByDigest } from "./uploads.sql.ts";
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
 * Makes a version of the verified files, or finds the version of the collection with the same manifest: then the aliases point at it, the run counts as
 * a run that made it, and the objects are left alone. The collection is locked; afterwards only the storage of the organization may be written.
 * @throws service_unavailable when an object was given up in the meantime
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
  const versionId = known ?? wanted.versionId;
  await moveAliases(tx, orgId, collectionId, aliases, versionId);
  await addEdge(tx, orgId, { id: newId(), runId, versionId, projectId, direction: "output" });
  if (known === undefined) await createKept(tx, orgId, wanted, files);
  else await touchCollection(tx, orgId, collectionId);
  return { versionId, deduplicated: known !== undefined };
}

async function createKept(tx: Tx, orgId: string, wanted: WantedVersion, files: readonly VerifiedFile[]): Promise<void> {
  const kept = await keepObjects(
    tx,
    orgId,
    files.flatMap(({ objectId, sizeBytes, sha256 }) =>
      objectId === null ? [] : { objectId, sizeBytes: sizeBytes!, sha256: Buffer.from(sha256!, "hex") },
    ),
  );
  await createVersion(tx, orgId, {
    ...wanted,
    sourceRunId: wanted.runId,
    digest: Buffer.from(wanted.digest, "hex"),
    entries: files.map((file) => ({ ...file, objectId: file.objectId === null ? null : kept.get(file.objectId)! })),
  });
}

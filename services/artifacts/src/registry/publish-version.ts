import { MANIFEST_ENTRIES_MAX } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { ensureCollection } from "../collections/collections.sql.ts";
import type { ArtifactsDeps } from "../deps.ts";
import { listFilesOfModel } from "../models/model-files.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { digestManifest } from "../uploads/completion.rules.ts";
import { createOrReuseVersion } from "../uploads/store-version.ts";
import { listFilesOfRun, type StoredFile } from "./registered-versions.sql.ts";

/** Where the files of a version are: in a folder of a model, or of a run. */
type Source = {
  readonly modelId: string | null;
  readonly runId: string;
  readonly folder: string;
};

/** Returns the files of a source, with paths in its folder: none where there are more than a version may have. */
export async function filesOf(tx: Tx, orgId: string, { modelId, runId, folder }: Source): Promise<StoredFile[]> {
  const found =
    modelId === null
      ? await listFilesOfRun(tx, orgId, runId, folder, MANIFEST_ENTRIES_MAX + 1)
      : (await listFilesOfModel(tx, orgId, modelId, folder)).map((file) => ({
          ...file,
          sha256: Buffer.from(file.sha256).toString("hex"),
        }));
  if (found.length > MANIFEST_ENTRIES_MAX) return [];
  const skipped = folder === "" ? 0 : folder.length + 1;
  return found.map((file) => ({ ...file, path: file.path.slice(skipped) }));
}

/**
 * Makes files of a run a version of the collection of type `model` with this name, which refers to the same bytes. Returns the version with the same
 * files if the collection has one. Afterwards a transaction may not wait for locks, because it has written the storage of the organization.
 */
export async function publishFiles(
  tx: Tx,
  { newId }: Pick<ArtifactsDeps, "newId">,
  orgId: string,
  wanted: {
    readonly name: string;
    readonly projectId: string;
    readonly runId: string;
    readonly files: readonly StoredFile[];
  },
): Promise<string> {
  const { name, projectId, runId, files } = wanted;
  const collection = await ensureCollection(tx, orgId, {
    id: newId(),
    projectId,
    type: "model",
    name,
    description: null,
    metadata: "{}",
  });
  const entries = files.map((file) => ({ ...file, kind: "file", referenceUri: undefined }));
  const { versionId } = await createOrReuseVersion(
    tx,
    orgId,
    {
      collectionId: collection.id,
      projectId,
      runId,
      versionId: newId(),
      digest: digestManifest(entries).toString("hex"),
      aliases: [],
      ttlDays: null,
      sourceStep: null,
    },
    entries.map((entry) => ({ ...entry, id: newId(), referenceUri: null })),
    newId,
  );
  if (collection.isNew) await addStorage(tx, orgId, { collections: 1 });
  return versionId;
}

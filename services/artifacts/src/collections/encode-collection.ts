import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Tx } from "@tidemark/pg";
import type { ArtifactCollectionSchema } from "@tidemark/proto/artifacts/v1/versions";
import { encodeVersion } from "../versions/encode-version.ts";
import { readVersions } from "../versions/versions.sql.ts";
import type { CollectionRow } from "./collections.sql.ts";

const utf8 = new TextEncoder();

/** Encodes collections with their latest and best versions, which it reads in one statement. */
export async function encodeCollections(
  tx: Tx,
  orgId: string,
  rows: readonly CollectionRow[],
): Promise<MessageInitShape<typeof ArtifactCollectionSchema>[]> {
  const shown = rows.flatMap(({ latestId, bestId }) => [latestId, bestId]).filter((id) => id !== null);
  const versions = await readVersions(tx, orgId, [...new Set(shown)]);
  const byId = new Map(versions.map((version) => [version.id, encodeVersion(version)]));
  return rows.map((row) => {
    const { latestId, bestId, metadata, versionsCount, retainedBytes, pendingDeleteBytes, description, ...same } = row;
    return {
      ...same,
      description: description ?? undefined,
      metadataJson: utf8.encode(metadata),
      versionsCount,
      retainedBytes: BigInt(retainedBytes),
      pendingDeleteBytes: BigInt(pendingDeleteBytes),
      latestVersion: byId.get(latestId ?? ""),
      bestVersion: byId.get(bestId ?? ""),
    };
  });
}

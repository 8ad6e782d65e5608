import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RegisteredModelSchema, RegisteredVersionSchema } from "@tidemark/proto/artifacts/v1/registry";
import type { AliasRow, RegisteredRow } from "./registered-models.sql.ts";
import type { RegisteredVersionRow } from "./registered-versions.sql.ts";

/** Encodes a registered model with its aliases and latest versions. */
export function encodeRegistered(
  { name, description, tags, createdAt, updatedAt }: RegisteredRow,
  aliases: readonly AliasRow[],
  latest: readonly RegisteredVersionRow[],
): MessageInitShape<typeof RegisteredModelSchema> {
  return {
    name,
    description,
    tags,
    aliases: aliases.map(({ alias, number }) => ({ alias, number })),
    latestVersions: latest.map(encodeRegisteredVersion),
    createdAt,
    updatedAt,
  };
}

/** Encodes a version of a registered model. */
export function encodeRegisteredVersion(row: RegisteredVersionRow): MessageInitShape<typeof RegisteredVersionSchema> {
  return {
    name: row.name,
    number: row.number,
    source: row.source,
    runId: row.runId ?? undefined,
    modelId: row.modelId ?? undefined,
    artifactVersionId: row.versionId ?? undefined,
    runLink: row.runLink,
    stage: row.stage,
    description: row.description,
    tags: row.tags,
    aliases: [...row.aliases],
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

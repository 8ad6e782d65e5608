import type { RegisteredModel, RegisteredVersion } from "@tidemark/proto/artifacts/v1/registry";
import type { Json } from "../../../http/json.ts";
import { pairs } from "../documents.ts";
import { mlflowRunId } from "../ids.ts";
import { mlflowModelId } from "../models/ids.ts";

/** Stages as MLflow writes them, by those of the registry. */
export const stageWords: Readonly<Record<string, string>> = {
  none: "None",
  staging: "Staging",
  production: "Production",
  archived: "Archived",
};

/** A version of a registered model. It is ready as soon as it exists: its clients wait for any other status. */
export function versionJson(version: RegisteredVersion): Json {
  return {
    name: version.name,
    version: String(version.number),
    creation_timestamp: Date.parse(version.createdAt),
    last_updated_timestamp: Date.parse(version.updatedAt),
    current_stage: stageWords[version.stage]!,
    // Clients take what is absent for None, but not an empty text.
    ...(version.description === "" ? {} : { description: version.description }),
    source: version.source,
    ...(version.runId === undefined ? {} : { run_id: mlflowRunId(version.runId) }),
    ...(version.modelId === undefined ? {} : { model_id: mlflowModelId(version.modelId) }),
    status: "READY",
    run_link: version.runLink,
    tags: pairs(Object.entries(version.tags)),
    aliases: version.aliases,
  };
}

/** A registered model. */
export function registeredJson(model: RegisteredModel): Json {
  return {
    name: model.name,
    creation_timestamp: Date.parse(model.createdAt),
    last_updated_timestamp: Date.parse(model.updatedAt),
    description: model.description,
    latest_versions: model.latestVersions.map(versionJson),
    tags: pairs(Object.entries(model.tags)),
    aliases: model.aliases.map(({ alias, number }) => ({ alias, version: String(number) })),
  };
}

import type { Project } from "@tidemark/proto/runs/v1/runs";
import type { Json } from "../../../http/json.ts";
import { documentOf, memberObject, pairs, textOf } from "../documents.ts";
import { DEFAULT_EXPERIMENT, experimentIdOf } from "../ids.ts";
import { NOTE_TAG, noteOf } from "../notes.ts";

/** The part of a project's metadata that belongs to MLflow. */
type ExperimentMetadata = {
  readonly tags: ReadonlyMap<string, string>;
  /** Where runs keep their artifacts instead of here. */
  readonly artifactLocation: string | undefined;
};

/** Reads what MLflow keeps of a project. */
export function experimentMetadataOf({ metadataJson, description }: Project): ExperimentMetadata {
  const mlflow = memberObject(documentOf(metadataJson), "mlflow");
  const tags = new Map(Object.entries(memberObject(mlflow, "tags")).map(([key, value]) => [key, textOf(value)]));
  const note = noteOf(description, mlflow["note"]);
  if (note !== undefined) tags.set(NOTE_TAG, note);
  const location = mlflow["artifact_location"];
  return { tags, artifactLocation: typeof location === "string" ? location : undefined };
}

/** An experiment. */
export function experimentJson(project: Project): Json {
  const { tags, artifactLocation } = experimentMetadataOf(project);
  const id = experimentIdOf(project.name, project.number);
  return {
    experiment_id: id,
    name: project.name,
    artifact_location: artifactLocation ?? `mlflow-artifacts:/${id}`,
    lifecycle_stage: project.deletion === undefined ? "active" : "deleted",
    creation_time: Date.parse(project.createdAt),
    last_update_time: Date.parse(project.updatedAt),
    tags: pairs(tags),
  };
}

/** The experiment `Default` before anything was written to it. */
export const defaultExperimentJson: Json = {
  experiment_id: DEFAULT_EXPERIMENT.id,
  name: DEFAULT_EXPERIMENT.name,
  artifact_location: `mlflow-artifacts:/${DEFAULT_EXPERIMENT.id}`,
  lifecycle_stage: "active",
  creation_time: 0,
  last_update_time: 0,
  tags: [],
};

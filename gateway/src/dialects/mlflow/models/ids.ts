import { badRequest, notFound } from "@tidemark/errors";
import { canonicalUuid } from "../../../api/fields/text.ts";

const shape = /^m-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** Returns the id of a logged model as services have it; undefined for other texts. */
export function modelUuid(text: string): string | undefined {
  return canonicalUuid(shape.exec(text)?.slice(1).join("-"));
}

/** Reads the id of a logged model. @throws bad_request without one, not_found for other texts */
export function readModelId(sent: unknown): string {
  if (typeof sent !== "string" || sent === "") throw badRequest("model_id is required", "model_id");
  const id = modelUuid(sent);
  if (id === undefined) throw notFound("model");
  return id;
}

/** Returns the id of a logged model as MLflow writes it. */
export function mlflowModelId(id: string): string {
  return `m-${id.replaceAll("-", "")}`;
}

/** Returns where the files of a logged model are. */
export function modelArtifactUri(experimentId: string, modelId: string): string {
  return `mlflow-artifacts:/${experimentId}/models/${mlflowModelId(modelId)}/artifacts`;
}

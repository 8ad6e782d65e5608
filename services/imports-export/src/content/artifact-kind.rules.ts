import type { SourceArtifact } from "./content.rules.ts";

const CHECKPOINT = /checkpoint|model|\.(?:pt|pth|ckpt|safetensors|onnx)\b/i;
const ROLLOUT = /rollout|video|\.(?:mp4|mov|webm)\b/i;
const TABLE = /table|\.(?:csv|tsv|parquet)\b/i;

/** Guesses the type of an artifact from its name in another tracker. */
export function artifactTypeOf(type: string, name: string): SourceArtifact["type"] {
  const told = `${type} ${name}`;
  if (CHECKPOINT.test(told)) return "checkpoint";
  return ROLLOUT.test(told) ? "rollout" : "file";
}

/** Returns the type of the collection that an imported artifact belongs to. */
export function collectionTypeOf({ type, name }: Pick<SourceArtifact, "type" | "name">): string {
  if (type === "checkpoint") return "checkpoint";
  if (type === "rollout") return "media";
  return TABLE.test(name) ? "table" : "file";
}

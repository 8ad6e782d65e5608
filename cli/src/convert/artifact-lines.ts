import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { encodeLine } from "@tidemark/archive";
import type { JsonObject } from "@tidemark/import-formats";
import { documentOf, nameOf } from "./texts.ts";

/** Bytes that an archive names, and where they are. */
export type Content = { readonly sha256: string; readonly size: number; readonly path: string };

/** Facts about an artifact. */
export type ArtifactFacts = {
  readonly id: string;
  readonly runId: string;
  readonly name: string;
  /** The source's own word. */
  readonly type: string;
  readonly step: number | undefined;
  readonly mimeType: string | undefined;
  readonly metadata: JsonObject;
  readonly createdAt: string;
  /** Its bytes, or where they are instead. */
  readonly content: Content | { readonly uri: string; readonly size: number | undefined };
};

const CHECKPOINT = /checkpoint|model|\.(?:pt|pth|ckpt|safetensors|onnx)\b/i;

const mimeTypes: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["svg", "image/svg+xml"],
  ["webp", "image/webp"],
  ["mp4", "video/mp4"],
  ["webm", "video/webm"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
  ["ogg", "audio/ogg"],
  ["json", "application/json"],
  ["txt", "text/plain"],
  ["log", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
]);

/** Writes a plain artifact. */
export function artifactLine(facts: ArtifactFacts): string {
  const { id, runId, type, step, metadata, createdAt, content } = facts;
  const name = nameOf(facts.name) || "file";
  const isHere = "sha256" in content;
  return encodeLine({
    line: "artifact",
    id,
    run_id: runId,
    artifact_type: CHECKPOINT.test(`${type} ${name}`) ? "checkpoint" : "file",
    name,
    step: step !== undefined && step >= 0 ? step : undefined,
    mime_type:
      facts.mimeType ?? mimeTypes.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "") ?? "application/octet-stream",
    size_bytes: sizeOf(content.size),
    sha256: isHere ? content.sha256 : undefined,
    uri: isHere ? undefined : content.uri,
    metadata: documentOf(type === "" ? metadata : { ...metadata, source_type: type }),
    created_at: createdAt,
  });
}

/** Returns a size that the source says, if a file can have it: an archive with another one would be refused as a whole. */
function sizeOf(size: number | undefined): number | undefined {
  return size !== undefined && Number.isSafeInteger(size) && size >= 0 ? size : undefined;
}

/** Reads the SHA-256 and the size of a file. Without `hash` it only looks how large it is. */
export async function contentOfFile(path: string, hash: boolean): Promise<Content> {
  if (!hash) return { sha256: "0".repeat(64), size: (await stat(path)).size, path };
  const digest = createHash("sha256");
  let size = 0;
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      digest.update(chunk);
      size += chunk.length;
    }
  });
  return { sha256: digest.digest("hex"), size, path };
}

/** Returns the SHA-256 of bytes. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

import { createHash } from "node:crypto";
import { parseJsonObject, writeCanonical, type ExactJson } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { cleanBody } from "../chunks/clean-body.rules.ts";
import { cutWarnings } from "../chunks/job-limits.rules.ts";
import { readChunk, type ChunkJob, type ReadChunk } from "../chunks/read-chunk.rules.ts";
import { type Content, type ImportWarning, packContent } from "../content/content.rules.ts";
import { flattenNamed, namedRunsOf, type NamedRuns } from "../content/named-runs.rules.ts";
import { firstOf, readName, type Fields } from "../content/read-fields.rules.ts";
import { readDocumentRuns } from "../documents/document.rules.ts";
import { DOCUMENT_READERS } from "../documents/trackers.rules.ts";

/** A content in its stored form. All of it can leave a thread without being copied. */
export type PackedContent = {
  readonly counts: {
    readonly runs: number;
    readonly metrics: number;
    readonly attributes: number;
    readonly artifacts: number;
  };
  readonly packed: Uint8Array;
  readonly named: NamedRuns;
};

/** The content of a chunk. */
export type PackedChunk = Pick<ReadChunk, "chunkId" | "sequence" | "isFinal" | "warningCount"> & {
  /** The warnings, in number and length limited to what a job keeps. */
  readonly warnings: readonly ImportWarning[];
  readonly content: PackedContent;
  /** The SHA-256 of the shown body. */
  readonly hash: Uint8Array;
};

/** The content of a document of another tracker. */
export type PackedDocument = Omit<PackedChunk, "chunkId" | "sequence" | "isFinal"> & { readonly project: string };

/**
 * Parses, redacts and checks the body of a chunk, and returns the content to stage and the text that answers show: the redacted body without its hash, keys
 * sorted. Undefined for a body that is a JSON object, when there is no job to compare it with. @throws bad_request
 */
export function readChunkBody(
  bytes: Buffer,
  job: ChunkJob | undefined,
): { readonly chunk: PackedChunk; readonly payload: Uint8Array } | undefined {
  const body = parseJsonObject(bytes, true, true);
  if (job === undefined) return undefined;
  const { payload, hash } = payloadOf(body);
  const { contentHash, content, warnings, ...read } = readChunk(body, job);
  if (contentHash !== undefined && contentHash !== hash.toString("hex")) requireHash(contentHash, bytes);
  const chunk = { ...read, warnings: cutWarnings(warnings), content: pack(content), hash };
  return { chunk, payload };
}

/** Redacts the body, and returns it in the form of answers, with its hash. @throws bad_request */
function payloadOf(body: Fields): { readonly payload: Buffer; readonly hash: Buffer } {
  const { content_hash: _, ...rest } = cleanBody(body);
  const payload = Buffer.from(writeCanonical(rest as ExactJson));
  return { payload, hash: createHash("sha256").update(payload).digest() };
}

/** Clients format numbers differently: their hash may be over the digits that they sent. @throws bad_request */
function requireHash(told: string, bytes: Buffer): void {
  const { hash } = payloadOf(parseJsonObject(bytes, "every digit", true));
  if (hash.toString("hex") !== told) throw badRequest("content_hash does not match the redacted chunk", "content_hash");
}

/** Parses, redacts and checks a document of another tracker. @throws bad_request */
export function readDocumentBody(bytes: Buffer, source: string): PackedDocument {
  const reader = DOCUMENT_READERS[source];
  if (reader === undefined) {
    throw badRequest(`source must be one of ${Object.keys(DOCUMENT_READERS).join(", ")}`, "source");
  }
  const body = cleanBody(parseJsonObject(bytes, true, true));
  const project = projectOf(body, reader.project);
  const { content, skipped } = readDocumentRuns(body, source, reader.readRun);
  return {
    project,
    content: pack(content),
    warnings: skipped.warnings(),
    warningCount: skipped.count(),
    hash: createHash("sha256").update(bytes).digest(),
  };
}

/** @throws bad_request */
function projectOf(body: Fields, fallback: string | undefined): string {
  const told = firstOf(body, ["project"]);
  if (told !== undefined) return readName(told, "project");
  if (fallback === undefined) throw badRequest("project is required", "project");
  return fallback;
}

function pack(content: Content): PackedContent {
  return {
    counts: {
      runs: content.runs.length,
      metrics: content.points.steps.length,
      attributes: content.attributes.length,
      artifacts: content.artifacts.length,
    },
    packed: packContent(content),
    named: flattenNamed(namedRunsOf(content)),
  };
}

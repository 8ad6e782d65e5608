import { createHash } from "node:crypto";
import type { Blob, PartTag } from "@tidemark/blob";
import { badRequest, isAppError } from "@tidemark/errors";
import { nextTurn } from "@tidemark/work";
import type { SentFile } from "./completion.rules.ts";
import type { UploadFileRow, UploadSessionRow } from "./sessions.sql.ts";

/** Hashing this many bytes takes a few milliseconds; other requests are served in between. */
const BYTES_PER_TURN = 4 * 1024 * 1024;

/**
 * Verifies that the bytes of a file have arrived completely: its length and its SHA-256 match the manifest. Returns the object that holds them. May be
 * called again after a failure and after a crash.
 * @throws bad_request when they have not, or differ; service_unavailable
 */
export async function verifyFile(
  blob: Blob,
  { orgId }: Pick<UploadSessionRow, "orgId">,
  file: UploadFileRow,
  sent: SentFile,
): Promise<string> {
  const fault = (text: string): Error => badRequest(`files: ${JSON.stringify(file.path)} ${text}`, "files");
  const requireSize = (sizeBytes: number): void => {
    if (sizeBytes !== file.sizeBytes) throw fault(`has ${sizeBytes} bytes, not ${file.sizeBytes}`);
  };
  const requireHash = (sha256: string): void => {
    if (sha256 !== file.sha256) throw fault("has another SHA-256 than the manifest says");
  };
  if (sent.inline !== undefined) {
    requireSize(sent.inline.sizeBytes);
    requireHash(sent.inline.sha256);
    return sent.inline.objectId;
  }
  const objectId = file.objectId!;
  const key = blob.keyOf(orgId, objectId);
  const finished = file.storeUploadId === null ? undefined : await finishParts(blob, key, file, sent.parts, fault);
  const entry = await blob.head(key);
  if (entry === undefined) throw fault("has not arrived");
  requireSize(entry.sizeBytes);
  requireHash(finished?.sha256 ?? entry.sha256 ?? (await hashObject(blob, key)));
  // Uploads other than the finished one, left by a crash or by a request that was repeated before it was answered.
  if (file.storeUploadId !== null) await blob.endParts(key);
  return objectId;
}

/** Joins the parts to one object; undefined when an earlier attempt has done so. */
async function finishParts(
  blob: Blob,
  key: string,
  file: UploadFileRow,
  parts: readonly PartTag[],
  fault: (text: string) => Error,
): Promise<{ readonly sha256?: string } | undefined> {
  const arrived = await blob.listParts(key, file.storeUploadId!);
  // It ended: either an attempt finished it before a crash, or it is gone; the object shows which.
  if (arrived === undefined) return undefined;
  const named = parts.length > 0 ? parts : arrived;
  if (named.length !== file.partCount) throw fault("has not arrived whole");
  try {
    return await blob.finishParts(key, file.storeUploadId!, named);
  } catch (error) {
    if (isAppError(error) && error.reason === "not_found") return undefined;
    if (isAppError(error) && error.reason === "bad_request") throw fault(`has not arrived whole: ${error.message}`);
    throw error;
  }
}

async function hashObject(blob: Blob, key: string): Promise<string> {
  const hash = createHash("sha256");
  const found = await blob.get(key);
  let bytes = 0;
  for await (const piece of found?.body ?? []) {
    hash.update(piece);
    bytes += piece.byteLength;
    if (bytes < BYTES_PER_TURN) continue;
    bytes = 0;
    await nextTurn();
  }
  return hash.digest("hex");
}

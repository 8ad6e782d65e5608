import { AppError } from "@tidemark/errors";
import type { BlobPart, PartTag } from "./blob.ts";

/**
 * Bounds of uploads in parts, for every driver: those of S3 ("Amazon S3 multipart upload limits" in its user guide).
 * The last part may be shorter than `partBytesMin`, but not empty.
 */
export const partLimits = { partBytesMin: 5 * 1024 ** 2, partBytesMax: 5 * 1024 ** 3, partsMax: 10_000 };

/**
 * Makes the id of an upload: the length of its parts, in front of the store's own id, so that no caller has to keep
 * that length elsewhere.
 */
export function formatUploadId(partBytes: number, storeId: string): string {
  return `${partBytes}-${storeId}`;
}

/** Takes the id of an upload apart; undefined for a text that `formatUploadId` never returns. */
export function parseUploadId(uploadId: string): { readonly partBytes: number; readonly storeId: string } | undefined {
  const found = /^([1-9]\d{0,9})-([!-~]{1,1024})$/.exec(uploadId);
  if (found === null || found[0] !== uploadId) return undefined;
  return { partBytes: Number(found[1]), storeId: found[2] ?? "" };
}

/**
 * Checks that the named parts have all arrived, are contiguous from 1, and are as long as promised: all except the last
 * exactly `partBytes`. Returns the length of the object. @throws AppError `bad_request`
 */
export function checkParts(named: readonly PartTag[], arrived: readonly BlobPart[], partBytes: number): number {
  const known = new Map(arrived.map((part) => [part.partNumber, part]));
  let sizeBytes = 0;
  for (const [index, { partNumber, etag }] of named.entries()) {
    const part = known.get(index + 1);
    if (partNumber !== index + 1 || part === undefined) throw badPart(index + 1, "is missing");
    if (part.etag !== etag) throw badPart(partNumber, "has another ETag");
    const last = index === named.length - 1;
    if (last ? part.sizeBytes < 1 || part.sizeBytes > partBytes : part.sizeBytes !== partBytes)
      throw badPart(partNumber, "has a wrong length");
    sizeBytes += part.sizeBytes;
  }
  if (named.length === 0) throw badPart(1, "is missing");
  return sizeBytes;
}

function badPart(partNumber: number, what: string): AppError {
  return new AppError("bad_request", `part ${partNumber} ${what}`);
}

/** Makes the error for an upload that was finished, was removed, or never was. */
export function uploadEnded(cause?: unknown): AppError {
  return new AppError("not_found", "upload not found", { cause });
}

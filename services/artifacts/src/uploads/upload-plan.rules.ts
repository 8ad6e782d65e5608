import { PARTS_PER_FILE_MAX } from "@tidemark/limits";

const KIB = 1024;
const MIB = 1024 * KIB;

/** How the bytes of a file are sent (contract of POST artifact-uploads): in the body of `complete`, with one PUT, or with one PUT for each part. */
export type UploadKind = "inline" | "put" | "multipart";

/** How one file is sent; `partCount` is 0 for inline files. */
export type FilePlan = { readonly uploadKind: UploadKind; readonly partCount: number };

/** Bounds of uploads. S3 takes at most 10,000 parts of an object, each of at least 5 MiB except the last. */
export const UPLOAD_LIMITS = {
  /** Larger files have their own addresses. */
  inlineFileBytesMax: 256 * KIB,
  /** The limit for all inline files together. In base64 they are a third larger, and `complete` takes 64 MiB. */
  inlineBytesMax: 24 * MIB,
  /** Larger files are sent in parts. */
  putBytesMax: 32 * MIB,
  partBytesMin: 16 * MIB,
  partsOfFileMax: PARTS_PER_FILE_MAX,
  partsOfSessionMax: 20_000,
} as const;

/**
 * Chooses how each file is sent, by its size in bytes, and how long parts are: 16 MiB, doubled as often as needed for the bounds on the number of
 * parts.
 */
export function planUpload(sizes: readonly number[]): {
  readonly partSizeBytes: number;
  readonly files: readonly FilePlan[];
} {
  let inlineBytes = 0;
  const kinds = sizes.map((size): UploadKind => {
    if (size <= UPLOAD_LIMITS.inlineFileBytesMax && inlineBytes + size <= UPLOAD_LIMITS.inlineBytesMax) {
      inlineBytes += size;
      return "inline";
    }
    return size <= UPLOAD_LIMITS.putBytesMax ? "put" : "multipart";
  });
  let partSizeBytes: number = UPLOAD_LIMITS.partBytesMin;
  for (;;) {
    const files = sizes.map((size, i) => ({
      uploadKind: kinds[i]!,
      partCount: countParts(kinds[i]!, size, partSizeBytes),
    }));
    if (isWithinBounds(files)) return { partSizeBytes, files };
    partSizeBytes *= 2;
  }
}

function countParts(kind: UploadKind, size: number, partSizeBytes: number): number {
  if (kind === "inline") return 0;
  return kind === "put" ? 1 : Math.ceil(size / partSizeBytes);
}

function isWithinBounds(files: readonly FilePlan[]): boolean {
  const parts = files.reduce((sum, { partCount }) => sum + partCount, 0);
  return (
    parts <= UPLOAD_LIMITS.partsOfSessionMax &&
    files.every(({ partCount }) => partCount <= UPLOAD_LIMITS.partsOfFileMax)
  );
}

/** Returns the length of one part in bytes; parts are counted from 1. */
export function partBytesOf(
  file: { readonly sizeBytes: number; readonly partCount: number },
  partSizeBytes: number,
  partNumber: number,
): number {
  if (file.partCount === 1) return file.sizeBytes;
  return partNumber < file.partCount ? partSizeBytes : file.sizeBytes - (file.partCount - 1) * partSizeBytes;
}

/** Returns the part length that the store assumes for a file: for a file in one part, the maximum length of such a file. */
export function storePartBytesOf(file: { readonly partCount: number }, partSizeBytes: number): number {
  return file.partCount === 1 ? UPLOAD_LIMITS.putBytesMax : partSizeBytes;
}

/** Returns how many bytes an upload reserves: those of the files to be sent. */
export function reservedBytesOf(
  files: readonly { readonly uploadKind: UploadKind | null; readonly sizeBytes: number | null }[],
): number {
  return files.reduce((sum, { uploadKind, sizeBytes }) => sum + (uploadKind === null ? 0 : (sizeBytes ?? 0)), 0);
}

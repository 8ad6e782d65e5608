import { badRequest } from "@tidemark/errors";
import type { CompletedFile } from "@tidemark/proto/artifacts/v1/uploads";
import { createHash } from "node:crypto";

/** A file of an upload that needs bytes. */
type ExpectedFile = {
  readonly id: string;
  readonly path: string;
  readonly uploadKind: string | null;
  readonly partCount: number;
};

/** The data that `complete` got about one file, as kept until the file is verified. `sha256` is 64 hexadecimal digits. */
export type SentFile = {
  readonly id: string;
  readonly inline?: { readonly objectId: string; readonly sizeBytes: number; readonly sha256: string };
  readonly parts: readonly { readonly partNumber: number; readonly etag: string }[];
};

/**
 * Returns the sent data of each file of an upload, by id. `files` are those that need bytes.
 * @throws bad_request when a file is missing, unknown or named twice, or its bytes were not sent in the way that the upload says
 */
export function readCompletion(sent: readonly CompletedFile[], files: readonly ExpectedFile[]): Map<string, SentFile> {
  const known = new Map(files.map((file) => [file.id, file]));
  const read = new Map<string, SentFile>();
  for (const { entryId, inline, parts } of sent) {
    const id = entryId.toLowerCase();
    const file = known.get(id);
    if (file === undefined) throw badRequest(`files: ${JSON.stringify(entryId)} is not a file of this upload`, "files");
    if (read.has(id)) throw badRequest(`files: ${JSON.stringify(file.path)} is there twice`, "files");
    if (file.uploadKind === "inline" && inline === undefined) {
      throw badRequest(`files: ${JSON.stringify(file.path)} needs content_base64`, "files");
    }
    if (file.uploadKind !== "inline" && inline !== undefined) {
      throw badRequest(`files: ${JSON.stringify(file.path)} does not take content_base64`, "files");
    }
    read.set(id, {
      id,
      ...(inline === undefined
        ? {}
        : {
            inline: {
              objectId: inline.objectId,
              sizeBytes: Number(inline.sizeBytes),
              sha256: Buffer.from(inline.sha256).toString("hex"),
            },
          }),
      parts: readParts(parts, file),
    });
  }
  const missing = files.find(({ id }) => !read.has(id));
  if (missing !== undefined) throw badRequest(`files: ${JSON.stringify(missing.path)} is missing`, "files");
  return read;
}

/** Parts in the order of their numbers; a file of several parts names all of them. */
function readParts(parts: CompletedFile["parts"], { path, uploadKind, partCount }: ExpectedFile): SentFile["parts"] {
  if (uploadKind !== "multipart") return [];
  const sorted = parts.map(({ partNumber, etag }) => ({ partNumber, etag: etag.replaceAll('"', "") }));
  sorted.sort((a, b) => a.partNumber - b.partNumber);
  if (sorted.length !== partCount || sorted.some(({ partNumber }, i) => partNumber !== i + 1)) {
    throw badRequest(
      `files: parts of ${JSON.stringify(path)} must be numbered from 1 to ${partCount}, each once`,
      "files",
    );
  }
  return sorted;
}

/** An entry of a manifest. `sha256` is 64 lower-case hexadecimal digits; files have size and hash, references an address. */
export type ManifestEntry = {
  readonly path: string;
  readonly kind: string;
  readonly sizeBytes: number | undefined;
  readonly sha256: string | undefined;
  readonly mimeType: string;
  readonly referenceUri: string | undefined;
};

/**
 * Returns the digest of a manifest, 32 bytes: SHA-256 over the entries in the order of the bytes of their paths. The path, the kind, the
 * size, the hash and the address of a file count; its media type does not. Each part is preceded by its length, so that different manifests differ.
 */
export function digestManifest(entries: readonly ManifestEntry[]): Buffer {
  const hash = createHash("sha256");
  const sorted = entries
    .map((entry) => ({ entry, path: Buffer.from(entry.path, "utf8") }))
    .toSorted((a, b) => Buffer.compare(a.path, b.path));
  for (const { entry, path } of sorted) {
    const { kind, sizeBytes, sha256, referenceUri } = entry;
    for (const part of [path, kind, sizeBytes?.toString(), sha256, referenceUri]) {
      const bytes = Buffer.from(part ?? "");
      const length = Buffer.alloc(4);
      // An absent part differs from an empty one.
      length.writeUInt32LE(part === undefined ? 0xffff_ffff : bytes.length);
      hash.update(length).update(bytes);
    }
  }
  return hash.digest();
}

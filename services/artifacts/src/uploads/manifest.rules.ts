import { createHash } from "node:crypto";

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

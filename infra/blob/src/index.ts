export type { Blob, BlobEntry, BlobPart, ByteRange, PartTag, PutOptions, PutResult, SignedPut } from "./blob.ts";
export { createFolderBlob } from "./folder-blob.ts";
export { createMinioBlob } from "./minio-blob.ts";
export type { MinioBlobOptions } from "./minio-blob.ts";

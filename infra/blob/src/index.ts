export type { Blob, BlobEntry, ByteRange, PutOptions, PutResult } from "./blob.ts";
export { createFolderBlob } from "./folder-blob.ts";
export { createMinioBlob } from "./minio-blob.ts";
export type { MinioBlobOptions } from "./minio-blob.ts";

import { randomUUID } from "node:crypto";
import type { Minio } from "@tidemark/local";
import { Client } from "minio";
import { eachTogether, timed, type ByteStore } from "./byte-store.ts";
import type { BenchFile, FileSet } from "./file-sets.ts";
import { openTransfer } from "./transfer.ts";

const PART_BYTES = 16 * 1024 ** 2;
/** Longer files are sent in parts, as ours sends them. */
const PUT_BYTES_MAX = 32 * 1024 ** 2;
const URL_SECONDS = 3600;

type Part = { readonly file: BenchFile; readonly uploadId: string | undefined; readonly number: number };

/**
 * The MinIO server without us, in a bucket of its own, with its own client. With `signed` that client only signs the addresses, and the bytes are sent by
 * what sends them to ours; otherwise it sends them itself, and signs their SHA-256 as it does by default.
 */
export async function openMinioAlone(minio: Minio, { signed }: { readonly signed: boolean }): Promise<ByteStore> {
  const { accessKey, secretKey, port } = minio;
  const region = "us-east-1";
  const client = new Client({ endPoint: "127.0.0.1", port, useSSL: false, accessKey, secretKey, region });
  const bucket = `alone-${randomUUID()}`;
  await client.makeBucket(bucket, region);
  const transfer = openTransfer();
  let stored: FileSet | undefined;

  const partsOf = async (file: BenchFile): Promise<Part[]> => {
    if (file.sizeBytes <= PUT_BYTES_MAX) return [{ file, uploadId: undefined, number: 1 }];
    const uploadId = await client.initiateNewMultipartUpload(bucket, file.path, {});
    const count = Math.ceil(file.sizeBytes / PART_BYTES);
    return Array.from({ length: count }, (_, i) => ({ file, uploadId, number: i + 1 }));
  };
  const send = async ({ file, uploadId, number }: Part): Promise<string> => {
    const { path, sizeBytes, pieces } = file;
    const start = (number - 1) * PART_BYTES;
    const bytes =
      uploadId === undefined ? pieces(0, sizeBytes) : pieces(start, Math.min(sizeBytes, start + PART_BYTES));
    if (signed) {
      const query: Record<string, string> = uploadId === undefined ? {} : { uploadId, partNumber: String(number) };
      return transfer.put(await client.presignedUrl("PUT", bucket, path, URL_SECONDS, query), bytes, {});
    }
    const [whole] = bytes;
    const body = Buffer.from(whole!.buffer, whole!.byteOffset, whole!.byteLength);
    if (uploadId === undefined) return (await client.putObject(bucket, path, body, body.length)).etag;
    const part = { bucketName: bucket, objectName: path, uploadID: uploadId, partNumber: number, headers: {} };
    return (await client.uploadPart(part, body)).etag;
  };
  const complete = async (tags: ReadonlyMap<Part, string>): Promise<void> => {
    const uploads = new Map<string, { path: string; parts: { part: number; etag: string }[] }>();
    for (const [{ file, uploadId, number }, etag] of tags) {
      if (uploadId === undefined) continue;
      const upload = uploads.get(uploadId) ?? { path: file.path, parts: [] };
      upload.parts.push({ part: number, etag: etag.replaceAll('"', "") });
      uploads.set(uploadId, upload);
    }
    await eachTogether([...uploads], async ([uploadId, { path, parts }]) => {
      await client.completeMultipartUpload(
        bucket,
        path,
        uploadId,
        parts.toSorted((a, b) => a.part - b.part),
      );
    });
  };

  return {
    name: signed ? "MinIO alone, signed addresses" : "MinIO alone, its client",
    processes: new Map([["MinIO", minio.pid]]),
    metrics: new Map(),
    async upload(set) {
      stored = set;
      const [parts, begin] = await timed(async () => (await Promise.all(set.files.map(partsOf))).flat());
      const tags = new Map<Part, string>();
      const [, sent] = await timed(() => eachTogether(parts, async (part) => void tags.set(part, await send(part))));
      const [, completed] = await timed(() => complete(tags));
      return { begin, send: sent, complete: completed };
    },
    async download(onBytes) {
      await eachTogether(stored?.files ?? [], async ({ path }, file) => {
        if (signed) {
          const url = await client.presignedGetObject(bucket, path, URL_SECONDS);
          await transfer.get(url, {}, (bytes) => onBytes(file, bytes));
          return;
        }
        for await (const bytes of await client.getObject(bucket, path)) onBytes(file, bytes as Buffer);
      });
    },
    async remove() {
      await client.removeObjects(bucket, stored?.files.map(({ path }) => path) ?? []);
    },
    close: () => transfer.close(),
  };
}

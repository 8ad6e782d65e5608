import type { Client } from "minio";
import { splitBody, type MeasuredBody } from "./bodies.ts";
import { unquoted } from "./s3-documents.ts";
import { sendTo, type S3Transport } from "./s3-transport.ts";

/** The target of an upload. */
export type S3Target = {
  readonly client: Client;
  readonly transport: S3Transport;
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
};

/** Bounds of the S3 protocol. */
const s3 = { singlePutBytesMax: 5 * 1024 ** 3, partsMax: 10_000 };
/** How long a signed URL for a request of our own is valid, in seconds: from the signing to the start of the request. */
export const urlSeconds = 300;

/**
 * Stores a body and returns its ETag: in one request if its length is known and small enough, else as a multipart
 * upload; both are streamed. The client's own `putObject` is not used, because it holds up to a part in memory, never
 * ends if the body fails, and continues uploads that others began.
 *
 * A body of unknown length is collected in parts of `partBytes`, because every request has to announce its length.
 */
export async function uploadBody(
  target: S3Target,
  body: MeasuredBody,
  size: number | undefined,
  partBytes: number,
  singlePutBytesMax: number = s3.singlePutBytesMax,
): Promise<string> {
  if (size !== undefined && size <= singlePutBytesMax) return putObject(target, body.bytes, size);
  return putParts(target, body, size, Math.max(partBytes, Math.ceil((size ?? 0) / s3.partsMax)));
}

async function putObject(target: S3Target, bytes: AsyncIterable<Uint8Array>, size: number): Promise<string> {
  const url = await target.client.presignedUrl("PUT", target.bucket, target.key, urlSeconds);
  return sendBytes(target, url, bytes, { "content-length": size, "content-type": target.contentType });
}

async function putParts(
  target: S3Target,
  body: MeasuredBody,
  size: number | undefined,
  partBytes: number,
): Promise<string> {
  const { client, bucket, key } = target;
  const uploadId = await client.initiateNewMultipartUpload(bucket, key, { "content-type": target.contentType });
  const splitter = splitBody(body.bytes);
  try {
    const parts: { part: number; etag: string }[] = [];
    for (let sent = 0, last = false; !last;) {
      const { bytes, length } =
        size === undefined
          ? await collect(splitter.part(partBytes))
          : { bytes: splitter.part(partBytes), length: Math.min(partBytes, size - sent) };
      sent += length;
      last = size === undefined ? length < partBytes : sent === size;
      // A body whose length is a multiple of the part length ends with an empty part, which is sent only if it is the
      // only one.
      if (length === 0 && parts.length > 0) break;
      const query = { uploadId, partNumber: String(parts.length + 1) };
      const url = await client.presignedUrl("PUT", bucket, key, urlSeconds, query);
      parts.push({ part: parts.length + 1, etag: await sendBytes(target, url, bytes, { "content-length": length }) });
    }
    // Read to the end of the body, which checks its length.
    for await (const _ of splitter.part(1)) break;
    const { etag } = await client.completeMultipartUpload(bucket, key, uploadId, parts);
    return etag;
  } catch (error) {
    // Best effort: the store itself also deletes unfinished uploads, after a day.
    await client.abortMultipartUpload(bucket, key, uploadId).catch(() => {});
    await splitter.close();
    throw error;
  }
}

/** Sends bytes to a signed URL and returns their ETag. */
export async function sendBytes(
  { transport }: Pick<S3Target, "transport">,
  url: string,
  bytes: AsyncIterable<Uint8Array>,
  headers: Parameters<typeof sendTo>[4],
): Promise<string> {
  const { etag = "" } = await sendTo(transport, "PUT", url, bytes, headers);
  return unquoted(etag);
}

async function collect(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ bytes: AsyncIterable<Uint8Array>; length: number }> {
  const held: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    held.push(piece);
    length += piece.byteLength;
  }
  return { length, bytes: replay(held) };
}

async function* replay(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

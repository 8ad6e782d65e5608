import type { Client } from "minio";
import type { MeasuredBody } from "./measured-body.ts";
import { putBytes, type S3Transport } from "./s3-transport.ts";
import { splitBody } from "./split-body.ts";

/** Where an upload goes. */
export type S3Target = {
  readonly client: Client;
  readonly transport: S3Transport;
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
};

/** Bounds of the S3 protocol. */
const s3 = { singlePutBytesMax: 5 * 1024 ** 3, partsMax: 10_000 };
/** How long a signed URL is good for, in seconds: from the signing to the start of the request. */
const urlSeconds = 300;

/**
 * Stores a body. One request when its length is known and fits one, a multipart upload otherwise; both stream, and
 * return the ETag. Not through the client's own `putObject`: that one holds up to a part in memory, never ends when
 * the body fails, and continues what another upload began.
 *
 * A body of unknown length is collected a part of `partBytes` at a time, because every request has to announce its
 * length.
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
  return sendTo(target, url, bytes, { "content-length": size, "content-type": target.contentType });
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
      // A body whose length is a multiple of the part ends in an empty one, which only stands when it is the only
      // one.
      if (length === 0 && parts.length > 0) break;
      const query = { uploadId, partNumber: String(parts.length + 1) };
      const url = await client.presignedUrl("PUT", bucket, key, urlSeconds, query);
      parts.push({ part: parts.length + 1, etag: await sendTo(target, url, bytes, { "content-length": length }) });
    }
    // The body's own check of its length runs when it ends.
    for await (const _ of splitter.part(1)) break;
    const { etag } = await client.completeMultipartUpload(bucket, key, uploadId, parts);
    return etag;
  } catch (error) {
    // Best effort: the store also clears unfinished uploads away by itself, after a day.
    await client.abortMultipartUpload(bucket, key, uploadId).catch(() => {});
    await splitter.close();
    throw error;
  }
}

async function sendTo(
  { transport }: S3Target,
  url: string,
  bytes: AsyncIterable<Uint8Array>,
  headers: Parameters<typeof putBytes>[3],
): Promise<string> {
  const { status, etag, text } = await putBytes(transport, url, bytes, headers);
  if (status !== 200) throw new S3AnswerError(status, text);
  return etag;
}

/** A refusal by the object store, with the code of its error document. */
class S3AnswerError extends Error {
  override readonly name = "S3AnswerError";
  readonly code: string;
  constructor(status: number, text: string) {
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? "unknown";
    super(`the object store answered ${status} ${code}`);
    this.code = code;
  }
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

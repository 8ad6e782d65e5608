import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client } from "minio";
import { splitBody, type MeasuredBody } from "./bodies.ts";

/** How long the object store may be silent, in milliseconds: before its answer, and while a body is transferred. */
const silence = { answerMs: 8_000, bodyMs: 60_000 };

/**
 * What the MinIO client sends its requests through. Unlike Node's own, it lets no request wait forever.
 */
export type S3Transport = {
  readonly request: typeof http.request;
  readonly agent: http.Agent;
};

/** Creates the transport of a store, with connections that are kept and reused. */
export function createTransport(secure: boolean): S3Transport {
  const agent = secure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const base = (secure ? https.request : http.request) as (...args: unknown[]) => http.ClientRequest;
  const request = (...args: unknown[]): http.ClientRequest => {
    const sent = base(...args);
    sent.setTimeout(silence.answerMs, () => sent.destroy(new Error("the object store is silent")));
    // The reader of the answer may be slow.
    sent.once("response", () => sent.setTimeout(silence.bodyMs));
    return sent;
  };
  return { request, agent };
}

/**
 * Sends a body of known length with PUT to a signed URL, streaming it; resolves with the answer's status, ETag and,
 * on a failure, error text.
 */
async function putBytes(
  transport: S3Transport,
  url: string,
  body: AsyncIterable<Uint8Array>,
  headers: { readonly "content-length": number; readonly "content-type"?: string },
): Promise<{ readonly status: number; readonly etag: string; readonly text: string }> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = transport.request(url, { method: "PUT", headers, agent: transport.agent }, resolve);
    // The source of the body may be slow.
    request.setTimeout(silence.bodyMs);
    request.once("error", reject);
    pipeline(Readable.from(body), request).catch(reject);
  });
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return {
    status: response.statusCode ?? 0,
    etag: unquoted(response.headers.etag ?? ""),
    text: Buffer.concat(parts).toString("utf8").slice(0, 1_000),
  };
}

function unquoted(etag: string): string {
  return etag.replaceAll('"', "");
}

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
/** How long a signed URL is valid, in seconds: from the signing to the start of the request. */
const urlSeconds = 300;

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
      // A body whose length is a multiple of the part length ends with an empty part, which is sent only if it is the
      // only one.
      if (length === 0 && parts.length > 0) break;
      const query = { uploadId, partNumber: String(parts.length + 1) };
      const url = await client.presignedUrl("PUT", bucket, key, urlSeconds, query);
      parts.push({ part: parts.length + 1, etag: await sendTo(target, url, bytes, { "content-length": length }) });
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

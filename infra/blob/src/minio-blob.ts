import type { IncomingMessage } from "node:http";
import type { BucketItem } from "minio";
import type { Blob, BlobEntry } from "./blob.ts";
import { guarded, unavailable, type BlobDriver } from "./guarded.ts";
import { measureBody } from "./bodies.ts";
import { uploadBody } from "./s3.ts";
import { createS3Parts, s3UploadShape } from "./s3-parts.ts";
import { createS3Signer } from "./s3-signing.ts";
import { createTransport, readAgain } from "./s3-transport.ts";

export type MinioBlobOptions = {
  /** Base URL of the S3 server, `http://host:port` or `https://host`. */
  readonly endpoint: string;
  /**
   * The same for clients, which write to signed addresses; without it there are no such addresses. It has no path. Requests have to
   * reach the server with this host name in them, because it is signed.
   *
   * A signed address shows the access key. A MinIO without the fix for CVE-2026-41145 lets any client that knows it
   * write any object; in front of such a server a proxy has to refuse requests with the header
   * `x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER`.
   */
  readonly publicEndpoint?: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Created if it is missing. */
  readonly bucket: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /**
   * Length of the parts of a multipart upload in bytes, at least 5 MiB; default 8 MiB. One part is held in
   * memory if the length of a body is not known.
   */
  readonly partBytes?: number;
  /** Longer bodies are uploaded in parts; default 5 GiB, the limit of S3. */
  readonly singlePutBytesMax?: number;
};

/**
 * Creates an object store in a bucket of MinIO or any other S3 server, with the part of the protocol that all of them
 * support. Does not wait for the server; `ready` reports whether it works.
 */
export async function createMinioBlob(options: MinioBlobOptions): Promise<Blob> {
  // Imported here, because an installation with a folder does not need to load it.
  const { Client } = await import("minio");
  const { bucket, region = "us-east-1", partBytes = 8 * 1024 ** 2 } = options;
  const endpoint = new URL(options.endpoint);
  const secure = endpoint.protocol === "https:";
  const transport = createTransport(secure);
  const client = new Client({
    endPoint: endpoint.hostname,
    port: Number(endpoint.port) || (secure ? 443 : 80),
    useSSL: secure,
    accessKey: options.accessKey,
    secretKey: options.secretKey,
    region,
    transport,
    transportAgent: transport.agent,
    // The client's retries print to the console and ignore deadlines.
    retryOptions: { disableRetry: true },
  });
  let bucketMade: Promise<void> | undefined;

  function ensureBucket(): Promise<void> {
    bucketMade ??= (async () => {
      if (await client.bucketExists(bucket)) return;
      await client.makeBucket(bucket, region).catch((error: unknown) => {
        // Another process was faster.
        if (codeOf(error) !== "BucketAlreadyOwnedByYou") throw error;
      });
    })();
    bucketMade.catch(() => (bucketMade = undefined));
    return bucketMade;
  }

  /** Returns the error to throw. If the bucket was deleted, the next call looks for it again. */
  function failed(error: unknown): Error {
    if (codeOf(error) === "NoSuchBucket") bucketMade = undefined;
    return unavailable(error);
  }

  const parts = createS3Parts({ client, transport, bucket, ensureBucket, failed });
  const { publicEndpoint } = options;
  const signed =
    publicEndpoint === undefined
      ? undefined
      : createS3Signer({ ...options, publicEndpoint, region, transport, ensureBucket, failed });

  const driver: BlobDriver = {
    ...parts,
    kind: "s3",
    signed,

    async put(key, body, { contentType = "application/octet-stream", size } = {}) {
      const length = body instanceof Uint8Array ? (size ?? body.byteLength) : size;
      const measured = measureBody(body, length);
      const target = { client, transport, bucket, key, contentType };
      try {
        await ensureBucket();
        const etag = await uploadBody(target, measured, length, partBytes, options.singlePutBytesMax);
        return { ...measured.result(), etag };
      } catch (error) {
        throw measured.fault() ?? failed(error);
      }
    },

    async get(key, range) {
      if (range?.start === range?.end && range !== undefined) return emptyPart(key);
      try {
        const response = (await readAgain(() =>
          range === undefined
            ? client.getObject(bucket, key)
            : client.getPartialObject(bucket, key, range.start, range.end - range.start),
        )) as IncomingMessage;
        return { sizeBytes: wholeSize(response), body: readBody(response) };
      } catch (error) {
        if (isMissing(error)) return undefined;
        if (codeOf(error) === "InvalidRange") return emptyPart(key);
        throw failed(error);
      }
    },

    async head(key) {
      try {
        const { headers } = await readAgain(() =>
          client.makeRequestAsyncOmit({
            method: "HEAD",
            bucketName: bucket,
            objectName: key,
            headers: { "x-amz-checksum-mode": "ENABLED" },
          }),
        );
        const entry = {
          key,
          sizeBytes: Number(headers["content-length"]),
          modifiedAt: new Date(headers["last-modified"] ?? 0),
        };
        const sha256 = wholeSha256(headers["x-amz-checksum-sha256"]);
        return sha256 === undefined ? entry : { ...entry, sha256 };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw failed(error);
      }
    },

    async remove(key) {
      // First, so that nothing can be finished afterwards.
      await parts.endParts(key);
      try {
        await client.removeObject(bucket, key);
      } catch (error) {
        if (!isMissing(error)) throw failed(error);
      }
    },

    list: (prefix) => listBucket(prefix),

    async ready() {
      try {
        await ensureBucket();
        if (await client.bucketExists(bucket)) return true;
        bucketMade = undefined;
        return false;
      } catch {
        return false;
      }
    },
  };

  /** Returns the answer for a range that has no bytes of the object, which S3 does not support. */
  async function emptyPart(key: string): ReturnType<Blob["get"]> {
    const entry = await driver.head(key);
    return entry && { sizeBytes: entry.sizeBytes, body: nothing() };
  }

  async function* listBucket(prefix: string): AsyncGenerator<BlobEntry> {
    try {
      await ensureBucket();
      const items = client.listObjectsV2(bucket, prefix, true) as unknown as AsyncIterable<BucketItem>;
      for await (const { name, size, lastModified } of items)
        if (name !== undefined) yield { key: name, sizeBytes: size, modifiedAt: lastModified };
    } catch (error) {
      throw failed(error);
    }
  }

  return guarded(driver, s3UploadShape);
}

async function* readBody(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (error) {
    throw unavailable(error);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/**
 * `Content-Range: bytes 0-9/120` names the length of the whole object, `Content-Length` only that of what was sent.
 */
function wholeSize({ headers }: IncomingMessage): number {
  return Number(/\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? headers["content-length"]);
}

/** Reads the checksum of an object. The checksum of a multipart upload is computed from its parts' checksums, and has a hyphen. */
function wholeSha256(checksum: string | string[] | undefined): string | undefined {
  return /^[A-Za-z0-9+/]{43}=$/.test(String(checksum))
    ? Buffer.from(String(checksum), "base64").toString("hex")
    : undefined;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === "NoSuchKey" || codeOf(error) === "NotFound";
}

import { text } from "node:stream/consumers";
import type { Client } from "minio";
import type { Blob, BlobPart, PartTag } from "./blob.ts";
import { countBody } from "./bodies.ts";
import { sendBytes, urlSeconds } from "./s3.ts";
import { readPartsPage } from "./s3-documents.ts";
import { S3AnswerError, sendTo, type S3Transport } from "./s3-transport.ts";
import { checkParts, formatUploadId, parseUploadId, uploadEnded } from "./upload-parts.rules.ts";

/** The upload ids of S3 servers, as far as they agree; MinIO uses their components as names of folders. */
export const s3UploadShape = /^(?!(.*[/\\])?\.{1,2}([/\\]|$))[!-~]+$/;

type S3Parts = Pick<Blob, "beginParts" | "putPart" | "listParts" | "finishParts" | "endParts">;

/** Uploads in parts as multipart uploads of S3. `failed` makes the error to throw for an error of the store. */
export function createS3Parts(options: {
  readonly client: Client;
  readonly transport: S3Transport;
  readonly bucket: string;
  readonly ensureBucket: () => Promise<unknown>;
  readonly failed: (error: unknown) => Error;
}): S3Parts {
  const { client, transport, bucket } = options;
  const storeIdOf = (uploadId: string): string => parseUploadId(uploadId)?.storeId ?? "";
  const failed = (error: unknown): Error => (isEnded(error) ? uploadEnded(error) : options.failed(error));

  async function list(key: string, storeId: string): Promise<readonly BlobPart[] | undefined> {
    const parts: BlobPart[] = [];
    try {
      for (let marker: string | undefined = ""; marker !== undefined;) {
        const query = `part-number-marker=${marker}&uploadId=${encodeURIComponent(storeId)}`;
        const answer = await client.makeRequestAsync({ method: "GET", bucketName: bucket, objectName: key, query });
        const page = await readPartsPage(await text(answer));
        parts.push(...page.parts);
        ({ marker } = page);
      }
      return parts;
    } catch (error) {
      if (isEnded(error)) return undefined;
      throw error;
    }
  }

  /** Returns whether the upload was still there. */
  async function abort(key: string, storeId: string): Promise<boolean> {
    try {
      await client.abortMultipartUpload(bucket, key, encodeURIComponent(storeId));
      return true;
    } catch (error) {
      if (isEnded(error)) return false;
      throw error;
    }
  }

  async function complete(key: string, storeId: string, parts: readonly PartTag[]): Promise<void> {
    // The ETags are those that the store has listed.
    const rows = parts.map(
      ({ partNumber, etag }) => `<Part><PartNumber>${partNumber}</PartNumber><ETag>&quot;${etag}&quot;</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${rows.join("")}</CompleteMultipartUpload>`);
    const url = await client.presignedUrl("POST", bucket, key, urlSeconds, { uploadId: storeId });
    await sendTo(transport, "POST", url, once(body), { "content-length": body.byteLength });
  }

  return {
    async beginParts(key, { partBytes }) {
      try {
        await options.ensureBucket();
        const headers = { "content-type": "application/octet-stream" };
        return formatUploadId(partBytes, await client.initiateNewMultipartUpload(bucket, key, headers));
      } catch (error) {
        throw failed(error);
      }
    },

    async putPart(key, uploadId, partNumber, body, { size }) {
      const measured = countBody(body, size);
      try {
        const query = { uploadId: storeIdOf(uploadId), partNumber: String(partNumber) };
        const url = await client.presignedUrl("PUT", bucket, key, urlSeconds, query);
        return { etag: await sendBytes({ transport }, url, measured.bytes, { "content-length": size }) };
      } catch (error) {
        const fault = measured.fault();
        if (fault !== undefined) throw fault;
        // The store refuses before it has read the body, and closes the connection: its answer may be lost.
        if (!(error instanceof S3AnswerError) && (await list(key, storeIdOf(uploadId)).catch(() => [])) === undefined)
          throw uploadEnded(error);
        throw failed(error);
      }
    },

    async listParts(key, uploadId) {
      try {
        return await list(key, storeIdOf(uploadId));
      } catch (error) {
        throw failed(error);
      }
    },

    async finishParts(key, uploadId, parts) {
      const { partBytes = 0, storeId = "" } = parseUploadId(uploadId) ?? {};
      const arrived = await list(key, storeId).catch((error: unknown) => {
        throw failed(error);
      });
      if (arrived === undefined) throw uploadEnded();
      const sizeBytes = checkParts(parts, arrived, partBytes);
      try {
        await complete(key, storeId, parts);
        return { sizeBytes };
      } catch (error) {
        throw failed(error);
      }
    },

    async endParts(key) {
      // Each page is listed from the start, because those before it are gone. MinIO lists the uploads of one key only.
      try {
        for (;;) {
          const page = await client.listIncompleteUploadsQuery(bucket, key, "", "", "");
          let ended = 0;
          for (const upload of page.uploads) if (upload.key === key && (await abort(key, upload.uploadId))) ended++;
          if (ended === 0) return;
        }
      } catch (error) {
        throw failed(error);
      }
    },
  };
}

function isEnded(error: unknown): boolean {
  return (error as { code?: unknown }).code === "NoSuchUpload";
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

import type { Blob } from "./blob.ts";
import { urlSeconds } from "./s3.ts";
import { headStatus, type S3Transport } from "./s3-transport.ts";
import { parseUploadId } from "./upload-parts.rules.ts";

/**
 * Headers that change what a PUT does, and that MinIO obeys although they are not signed (AWS refuses every `x-amz-`
 * header that is not). With them, a client could copy foreign objects into its own one, or have another checksum checked
 * than the signed one.
 */
const unwanted = [
  "x-amz-checksum-algorithm",
  "x-amz-content-sha256",
  "x-amz-copy-source",
  "x-amz-server-side-encryption-customer-algorithm",
  "x-amz-trailer",
];

export type S3SignerOptions = {
  /** Where this process reaches the store: `http://host:port` or `https://host`. */
  readonly endpoint: string;
  /** Where clients reach it. */
  readonly publicEndpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly transport: S3Transport;
  readonly ensureBucket: () => Promise<void>;
  /** Makes the error to throw for an error of the store. */
  readonly failed: (error: unknown) => Error;
};

/** The parts that are signed. Values of `query` are texts before their encoding; names of headers are in lower case. */
type Unsigned = {
  readonly method: "PUT" | "HEAD";
  readonly endpoint: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
};

/**
 * Makes addresses for clients, signed in their query (Signature Version 4, "Authenticating requests: using query
 * parameters" in the Amazon S3 API reference), with the bucket in the path.
 *
 * The SHA-256 of `put` is a signed header, `x-amz-checksum-sha256`; the store computes it, and refuses other bytes. That
 * needs a server with the checksums that S3 has had since 2022.
 */
export function createS3Signer(options: S3SignerOptions): NonNullable<Blob["signed"]> {
  const { bucket, region, accessKey, secretKey, transport } = options;
  const endpoint = options.publicEndpoint;
  if (new URL(endpoint).pathname !== "/")
    throw new Error("the address of an object store has no path, because the path is signed");
  const type = { "content-type": "application/octet-stream" };
  let bans: Promise<Readonly<Record<string, string>>> | undefined;

  async function sign({ method, endpoint: base, path, query, headers, seconds }: Unsigned): Promise<string> {
    // Imported here, because an installation with a folder does not need to load it.
    const { AwsV4Signer } = await import("aws4fetch");
    const url = new URL(path, base);
    url.search = new URLSearchParams({ ...query, "X-Amz-Expires": String(seconds) }).toString();
    const keys = { accessKeyId: accessKey, secretAccessKey: secretKey };
    const signer = new AwsV4Signer({ ...keys, method, url: url.href, headers, service: "s3", region, signQuery: true });
    return (await signer.sign()).url.href;
  }

  /**
   * Returns the unwanted headers as empty ones, which are signed, and are part of the query; or none for a server that does
   * not take them. MinIO takes signed headers that were not sent from the query, so that they need not be sent, and
   * sending one with a value breaks the signature.
   */
  function bannedHeaders(): Promise<Readonly<Record<string, string>>> {
    bans ??= (async () => {
      await options.ensureBucket();
      const banned = Object.fromEntries(unwanted.map((name) => [name, ""]));
      const where = { endpoint: options.endpoint, path: `/${bucket}`, query: banned, headers: banned };
      const status = await headStatus(transport, await sign({ method: "HEAD", ...where, seconds: urlSeconds }));
      if (status >= 500) throw new Error(`the object store answered ${status}`);
      return status === 200 ? banned : {};
    })();
    bans.catch(() => (bans = undefined));
    return bans;
  }

  async function signPut(what: Pick<Unsigned, "query" | "headers" | "seconds">, key: string): Promise<string> {
    const banned = await bannedHeaders().catch((error: unknown) => {
      throw options.failed(error);
    });
    return sign({
      method: "PUT",
      endpoint,
      path: `/${bucket}/${key}`,
      query: { ...what.query, ...banned },
      headers: { ...what.headers, ...banned },
      seconds: what.seconds,
    });
  }

  return {
    async put(key, { sha256, seconds }) {
      const checksum = { "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64") };
      return { url: await signPut({ query: {}, headers: checksum, seconds }, key), headers: { ...type, ...checksum } };
    },
    async part(key, uploadId, partNumber, { seconds }) {
      const query = { partNumber: String(partNumber), uploadId: parseUploadId(uploadId)?.storeId ?? "" };
      return { url: await signPut({ query, headers: {}, seconds }, key), headers: type };
    },
  };
}

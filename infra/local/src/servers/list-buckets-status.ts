import { createHash, createHmac } from "node:crypto";

const region = "us-east-1";
const signedHeaders = "host;x-amz-content-sha256;x-amz-date";

/**
 * The status with which an S3 server answers the listing of all buckets, asked with credentials (Signature Version 4).
 *
 * @param endpoint `http://host:port`
 */
export async function listBucketsStatus(
  endpoint: string,
  { accessKey, secretKey }: { accessKey: string; secretKey: string },
  now: Date,
): Promise<number> {
  const date = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const day = date.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const body = sha256("");
  const headers = [`host:${new URL(endpoint).host}`, `x-amz-content-sha256:${body}`, `x-amz-date:${date}`];
  const request = ["GET", "/", "", ...headers, "", signedHeaders, body].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", date, scope, sha256(request)].join("\n")).toString("hex");
  const response = await fetch(`${endpoint}/`, {
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
      "x-amz-content-sha256": body,
      "x-amz-date": date,
    },
    signal: AbortSignal.timeout(2000),
  });
  await response.body?.cancel();
  return response.status;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

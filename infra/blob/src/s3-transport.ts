import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Bounds on silence of the object store, in milliseconds: before its answer, and while a body is under way. */
const silence = { answerMs: 8_000, bodyMs: 60_000 };

/**
 * What the MinIO client sends its requests through; ours differs from Node's own in that no request waits for ever.
 */
export type S3Transport = {
  readonly request: typeof http.request;
  readonly agent: http.Agent;
};

/** Makes the transport of a store, with connections that are kept and used again. */
export function createTransport(secure: boolean): S3Transport {
  const agent = secure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const base = (secure ? https.request : http.request) as (...args: unknown[]) => http.ClientRequest;
  const request = (...args: unknown[]): http.ClientRequest => {
    const sent = base(...args);
    sent.setTimeout(silence.answerMs, () => sent.destroy(new Error("the object store is silent")));
    // Whoever reads the answer may be slow.
    sent.once("response", () => sent.setTimeout(silence.bodyMs));
    return sent;
  };
  return { request, agent };
}

/**
 * Sends a body of known length with PUT to a signed URL, streaming it; resolves with the answer's status, ETag and,
 * on a failure, error text.
 */
export async function putBytes(
  transport: S3Transport,
  url: string,
  body: AsyncIterable<Uint8Array>,
  headers: { readonly "content-length": number; readonly "content-type"?: string },
): Promise<{ readonly status: number; readonly etag: string; readonly text: string }> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = transport.request(url, { method: "PUT", headers, agent: transport.agent }, resolve);
    // The body comes at the pace of its source.
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

import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorCode, readDocument } from "./s3-documents.ts";

/**
 * How long the object store may be silent, in milliseconds: before its answer, and while a body is transferred or parts
 * are made an object.
 */
const silence = { answerMs: 8_000, bodyMs: 60_000 };
/** How long it may take in total to make parts an object, in milliseconds, while the store is not silent. */
const postMs = 15 * 60_000;

/**
 * Sends the requests of the MinIO client. Unlike Node's own, it lets no request wait forever.
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
 * Reads, and reads once more if the connection ended before the answer: the store closes connections that are idle, and may do so just when one of them is
 * used again (RFC 9112, section 9.3.1).
 */
export async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!["ECONNRESET", "EPIPE"].includes(String((error as { code?: unknown } | null)?.code))) throw error;
    return read();
  }
}

/**
 * Sends a request with a body of known length to a signed URL, streaming it. The answer to POST may take long: S3
 * begins it with status 200 and sends white space until the result or an error document follows (CompleteMultipartUpload
 * in the Amazon S3 API reference). Returns the headers of the answer. @throws S3AnswerError if the store refuses, or sends
 * a body that is not XML
 */
export async function sendTo(
  transport: S3Transport,
  method: "PUT" | "POST",
  url: string,
  body: AsyncIterable<Uint8Array>,
  headers: { readonly "content-length": number; readonly "content-type"?: string },
): Promise<http.IncomingHttpHeaders> {
  const limit = method === "POST" && { signal: AbortSignal.timeout(postMs) };
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = transport.request(url, { method, headers, agent: transport.agent, ...limit }, resolve);
    // The source of the body may be slow, and so may the store's work on it.
    request.setTimeout(silence.bodyMs);
    request.once("error", reject);
    pipeline(Readable.from(body), request).catch(reject);
  });
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8").trim();
  const document = await readDocument(text);
  const refused = response.statusCode !== 200 || (text !== "" && document === undefined);
  const code = (document && errorCode(document)) ?? (refused ? "unknown" : undefined);
  if (code !== undefined) throw new S3AnswerError(response.statusCode ?? 0, code);
  return response.headers;
}

/** Returns the status with which a signed URL answers to HEAD. */
export async function headStatus({ request, agent }: S3Transport, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "HEAD", agent }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once("error", reject);
    sent.end();
  });
}

/** A refusal by the object store, with the code of its error document; `unknown` without one. */
export class S3AnswerError extends Error {
  override readonly name = "S3AnswerError";
  readonly code: string;
  constructor(status: number, code: string) {
    super(`the object store answered ${status} ${code}`);
    this.code = code;
  }
}

import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A request. Its body can be opened again for another attempt. */
export type Exchange = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: number; readonly open: () => Readable };
  readonly signal: AbortSignal;
};

/**
 * Sends a request and resolves with the head of its answer, even if the server answers before it has the whole body. There is no time limit: an archive
 * may take long. @throws Error where the connection breaks
 */
export function exchange({ method, url, headers, body, signal }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { "content-length": String(body.bytes) };
    const request = send(url, { method, headers: { ...headers, ...length }, signal });
    let answered = false;
    request.once("response", (answer) => {
      answered = true;
      resolve(answer);
    });
    request.on("error", reject);
    if (body === undefined) request.end();
    else {
      // After an answer has arrived, the only thing that can break is the rest of a body that the server does not want.
      pipeline(body.open(), request).catch((error: unknown) => {
        if (!answered) reject(error instanceof Error ? error : new Error(String(error)));
      });
    }
  });
}

/** Reads the text of an answer. @throws Error where the connection breaks */
export async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

import { Readable } from "node:stream";
import { Agent } from "undici";
import { CONNECTIONS } from "./byte-store.ts";

/** Sends and receives bytes with as little work as possible, so that the client is not what is measured. */
export type Transfer = {
  /**
   * Sends the pieces as one body of known length and returns the ETag of the answer, with its quotes; empty if it has none.
   * @throws Error with status and the beginning of the answer when it is not a 2xx
   */
  put(url: string, pieces: readonly Uint8Array[], headers: Readonly<Record<string, string>>): Promise<string>;
  /** Passes the bytes of the answer on as they come. @throws Error with the status when it is not 200 */
  get(url: string, headers: Readonly<Record<string, string>>, onBytes: (bytes: Uint8Array) => void): Promise<void>;
  close(): Promise<void>;
};

/** Opens no connection before the first request. Without time limits: an answer may wait until bytes are on the disk. */
export function openTransfer(): Transfer {
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return {
    async put(url, pieces, headers) {
      const [only, ...others] = pieces;
      const length = pieces.reduce((sum, { length: bytes }) => sum + bytes, 0);
      const { origin, pathname, search } = new URL(url);
      const {
        statusCode,
        headers: answered,
        body,
      } = await agent.request({
        origin,
        path: `${pathname}${search}`,
        method: "PUT",
        headers: { ...headers, "content-length": String(length) },
        body: others.length === 0 ? (only ?? null) : Readable.from(pieces),
      });
      const text = await body.text();
      if (statusCode < 200 || statusCode > 299) throw new Error(`PUT: ${statusCode} ${text.slice(0, 200)}`);
      return String(answered["etag"] ?? "");
    },
    get: (url, headers, onBytes) =>
      new Promise((resolve, reject) => {
        const { origin, pathname, search } = new URL(url);
        let status = 0;
        let refusal = "";
        agent.dispatch(
          { origin, path: `${pathname}${search}`, method: "GET", headers },
          {
            onRequestStart: () => {},
            onResponseStart: (_controller, statusCode) => {
              status = statusCode;
            },
            onResponseData: (_controller, chunk) => {
              if (status === 200) onBytes(chunk);
              else refusal += chunk.toString();
            },
            onResponseEnd: () => {
              if (status === 200) resolve();
              else reject(new Error(`GET: ${status} ${refusal.slice(0, 200)}`));
            },
            onResponseError: (_controller, error) => reject(error),
          },
        );
      }),
    close: () => agent.close(),
  };
}

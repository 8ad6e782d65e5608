import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A third-party site that shows frames. */
export type Portal = {
  /** As a browser names it. */
  readonly origin: string;
  /** Headers of the requests that it received. */
  readonly received: IncomingHttpHeaders[];
  /** Returns the address of a page that shows this address in a frame. */
  pageWith(address: string): string;
  close(): Promise<void>;
};

/** Starts a site on a free port under this name of the machine. */
export async function startPortal(host: "localhost" | "127.0.0.1"): Promise<Portal> {
  const frames: string[] = [];
  const received: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers);
    const frame = frames[Number(request.url?.slice(1))];
    if (frame === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      `<!doctype html><title>Portal</title><link rel="icon" href="data:,"><style>body{margin:0}iframe{border:0;width:100%;height:98vh}</style><iframe src="${frame}"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    pageWith: (address) => `${origin}/${frames.push(address) - 1}`,
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

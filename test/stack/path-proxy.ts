import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/** A reverse proxy that serves a server below a path. */
export type PathProxy = { readonly baseUrl: string; readonly close: () => Promise<void> };

/**
 * Serves `target` below `path` on a port, as nginx does: every second request keeps the path, the others lose it, so that both kinds of proxies are
 * tested. Anything outside the path is 404.
 */
export async function startPathProxy(target: string, path: string, port: number): Promise<PathProxy> {
  let count = 0;
  const server = createServer((incoming, answer) => {
    const { url = "", method, headers } = incoming;
    if (url !== path && !url.startsWith(`${path}/`)) {
      answer.writeHead(404).end("outside");
      return;
    }
    count += 1;
    const passed = count % 2 === 0 ? url : url.slice(path.length) || "/";
    const outgoing = send(`${target}${passed}`, { method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    outgoing.on("error", () => answer.destroy());
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

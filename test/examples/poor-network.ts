import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** The fate of a request: `deliver`; `lose`: the server handles it but its answer never arrives; `busy`: a 503 instead. */
export type Fate = "deliver" | "lose" | "busy";

/** A way to a server that does not always work. */
export type PoorNetwork = {
  readonly url: string;
  /** How many requests met each fate. */
  readonly fates: Readonly<Record<Fate, number>>;
  stop(): Promise<void>;
};

/** A proxy between a client and the server at `target` that asks `fate` about every request, in the order of arrival. */
export async function startPoorNetwork(
  target: string,
  fate: (method: string, path: string) => Fate,
): Promise<PoorNetwork> {
  const fates: Record<Fate, number> = { deliver: 0, lose: 0, busy: 0 };
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", headers } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const decided = fate(method, url);
    fates[decided] += 1;
    if (decided === "busy") {
      outgoing.writeHead(503, { "content-type": "application/json", "retry-after": "0" });
      outgoing.end('{"error":"come back later"}');
      return;
    }
    const forwarded = request(`${target}${url}`, { method, headers, agent: false });
    forwarded.end(Buffer.concat(chunks));
    const [answer] = (await once(forwarded, "response")) as [IncomingMessage];
    const body: Buffer[] = [];
    for await (const chunk of answer) body.push(chunk as Buffer);
    if (decided === "lose") {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.end(Buffer.concat(body));
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

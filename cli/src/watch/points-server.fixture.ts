import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Row } from "./outbox.ts";

/** A server with the ordinary routes of runs and points, in memory. */
export type PointsServer = {
  readonly url: string;
  readonly statuses: ReadonlyMap<string, string>;
  /** Step and value by run and key, in the order of their arrival; a batch with a repeated key is there once. */
  readonly points: ReadonlyMap<string, readonly [number, number][]>;
  readonly batches: readonly number[];
  readonly stop: () => Promise<void>;
};

/** Starts one. Where `breaks` says so, a request is done and its connection breaks before the answer. */
export async function startPointsServer(breaks: (request: string) => boolean = () => false): Promise<PointsServer> {
  const statuses = new Map<string, string>();
  const points = new Map<string, [number, number][]>();
  const keys = new Set<string>();
  const batches: number[] = [];

  const store = (runId: string, rows: readonly Row[]): void => {
    batches.push(rows.length);
    for (const { step, metrics } of rows) {
      for (const [key, value] of Object.entries(metrics)) {
        const place = `${runId} ${key}`;
        points.set(place, [...(points.get(place) ?? []), [step, Number(value)]]);
      }
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === "" ? {} : JSON.parse(text)) as { id?: string; status?: string; points?: Row[] };
    const { method = "", url = "" } = request;
    const id = body.id ?? url.split(/[/?]/)[2]!;
    let status = 200;
    if (method === "GET" && !statuses.has(id)) status = 404;
    else if (method === "POST" && url === "/runs") statuses.set(id, statuses.get(id) ?? "running");
    else if (method === "PATCH") statuses.set(id, body.status!);
    else if (method === "POST") {
      const key = String(request.headers["idempotency-key"]);
      if (!keys.has(key)) store(id, body.points!);
      keys.add(key);
    }
    if (breaks(`${method} ${url}`)) request.socket.destroy();
    else response.writeHead(status, { "content-type": "application/json" }).end("{}");
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statuses,
    points,
    batches,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

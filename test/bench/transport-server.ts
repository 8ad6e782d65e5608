import { createServer as createHttp1 } from "node:http";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { createUnaryServer, implement, startGrpcServer } from "@tidemark/rpc";

// One process that answers the same service in every way we compare. It tells its ports and, when
// asked, its CPU time so far.

const echo = async (request: { text: string; numbers: number[] }) => ({ text: request.text, numbers: request.numbers });
const count = async (request: { text: string; numbers: number[] }) => ({ text: String(request.numbers.length) });

async function* nothing() {}
const implementation = implement(EchoService, { read: echo, write: count, fail: echo, hang: echo, count: nothing });
const ours = createUnaryServer([implementation]);
const oursHttp = createHttp1((request, response) => void ours.handle(request, response));
const library = createHttp1(
  connectNodeAdapter({ routes: (router) => void router.service(EchoService, { read: echo, write: count }) }),
);
const listen = (server: ReturnType<typeof createHttp1>): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });

const grpc = await startGrpcServer([implementation], { host: "127.0.0.1", port: 0, ready: async () => true });
process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
process.send?.({ ports: { ours: await listen(oursHttp), library: await listen(library), http2: grpc.port } });

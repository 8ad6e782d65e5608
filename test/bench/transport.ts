import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { connectPeer, createCall, createLocalClient, implement } from "@tidemark/rpc";

// Compares the ways in which one process can call another: tiny unary calls and calls that carry a
// column of 1,000 doubles, eight at a time. Client and server are separate processes, so that
// the CPU time of either is known.

type Message = { text: string; numbers: number[] };
type Caller = { name: string; call: (message: Message) => Promise<unknown>; close: () => Promise<void> | void };

const CONCURRENCY = 8;
const WARM_UP = 500;
const CALLS = 4000;

async function serverCpu(child: ChildProcess): Promise<number> {
  child.send("cpu");
  const [{ cpu }] = (await once(child, "message")) as [{ cpu: NodeJS.CpuUsage }];
  return cpu.user + cpu.system;
}

async function run(caller: Caller, message: Message, calls: number): Promise<void> {
  let left = calls;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await caller.call(message);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

function grpcJs(port: number): Caller {
  const root = join(import.meta.dirname, "../../proto");
  const loaded = grpc.loadPackageDefinition(
    loadSync("tidemark/testing/v1/echo.proto", { includeDirs: [root] }),
  ) as unknown as { tidemark: { testing: { v1: { EchoService: grpc.ServiceClientConstructor } } } };
  const client = new loaded.tidemark.testing.v1.EchoService(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const write = (client as unknown as { write: (m: Message, done: (e: Error | null, a: unknown) => void) => void })
    .write;
  return {
    name: "grpc-js, gRPC over HTTP/2",
    call: (message) =>
      new Promise((resolve, reject) => {
        write.call(client, message, (error, answer) => (error === null ? resolve(answer) : reject(error)));
      }),
    close: () => client.close(),
  };
}

async function* nothing() {}

function callers(ports: { ours: number; library: number; http2: number }): Caller[] {
  const http2 = `http://127.0.0.1:${ports.http2}`;
  const connect = createClient(
    EchoService,
    createConnectTransport({ baseUrl: http2, httpVersion: "2", useBinaryFormat: true }),
  );
  const grpcProtocol = createClient(EchoService, createGrpcTransport({ baseUrl: http2 }));
  const ours = connectPeer(`http://127.0.0.1:${ports.ours}`);
  const mixed = connectPeer(`http://127.0.0.1:${ports.library}`);
  const echo = async (request: Message) => ({ text: String(request.numbers.length) });
  const local = createLocalClient(
    EchoService,
    implement(EchoService, { read: echo, write: echo, fail: echo, hang: echo, count: nothing }),
  );
  return [
    { name: "in the process", call: (message) => local.write(message, createCall()), close: () => {} },
    {
      name: "Connect unary over HTTP/1.1, ours at both ends",
      call: (message) => ours.client(EchoService).write(message, createCall()),
      close: () => ours.close(),
    },
    {
      name: "Connect unary over HTTP/1.1, ours to connect-node",
      call: (message) => mixed.client(EchoService).write(message, createCall()),
      close: () => mixed.close(),
    },
    { name: "connect-node, Connect over HTTP/2", call: (message) => connect.write(message), close: () => {} },
    { name: "connect-node, gRPC over HTTP/2", call: (message) => grpcProtocol.write(message), close: () => {} },
    grpcJs(ports.http2),
  ];
}

const child = fork(join(import.meta.dirname, "transport-server.ts"));
const [{ ports }] = (await once(child, "message")) as [{ ports: { ours: number; library: number; http2: number } }];
const messages: [string, Message][] = [
  ["tiny", { text: "x", numbers: [] }],
  ["1,000 doubles", { text: "x", numbers: Array.from({ length: 1000 }, (_, index) => index * 1.1) }],
];

console.log("| transport | message | calls/s | client CPU µs/call | server CPU µs/call |");
console.log("|---|---|---|---|---|");
for (const caller of callers(ports)) {
  for (const [size, message] of messages) {
    await run(caller, message, WARM_UP);
    const serverBefore = await serverCpu(child);
    const before = process.cpuUsage();
    const started = performance.now();
    await run(caller, message, CALLS);
    const seconds = (performance.now() - started) / 1000;
    const used = process.cpuUsage(before);
    const server = (await serverCpu(child)) - serverBefore;
    const client = (used.user + used.system) / CALLS;
    console.log(
      `| ${caller.name} | ${size} | ${Math.round(CALLS / seconds)} | ${client.toFixed(0)} | ${(server / CALLS).toFixed(0)} |`,
    );
  }
  await caller.close();
}
child.kill();
process.exit(0);

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { fromBinary } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { AppError } from "@tidemark/errors";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { until } from "@tidemark/testkit";
import { connect, type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { join } from "node:path";
import { startGrpcServer, type GrpcServer } from "./grpc-server.ts";
import { implement } from "./service.ts";

type Unary = (
  request: object,
  metadata: grpc.Metadata,
  done: (error: grpc.ServiceError | null, answer: Record<string, unknown>) => void,
) => void;
type GrpcClient = grpc.Client & Record<string, Unary>;

const protos = join(import.meta.dirname, "../../../proto");
const loaded = grpc.loadPackageDefinition(
  loadSync(["tidemark/testing/v1/echo.proto", "grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto"], {
    includeDirs: [protos],
    enums: String,
  }),
) as unknown as {
  tidemark: { testing: { v1: { EchoService: grpc.ServiceClientConstructor } } };
  grpc: {
    health: { v1: { Health: grpc.ServiceClientConstructor } };
    reflection: { v1: { ServerReflection: grpc.ServiceClientConstructor } };
  };
};

let server: GrpcServer;
let ready = true;
let streamsEnded = 0;
const open: grpc.Client[] = [];

beforeAll(async () => {
  const implementation = implement(EchoService as GenService<(typeof EchoService)["method"]>, {
    read: async (request) => ({ text: request.text, numbers: request.numbers }),
    write: async (request) => ({ text: request.text }),
    fail: async () => {
      throw new AppError("run_not_found", "run not found");
    },
    hang: () => new Promise(() => {}),
    count: async function* ({ text, numbers }) {
      try {
        for (const number of numbers) yield { text, numbers: [number] };
        if (text === "fail") throw new AppError("run_not_found", "run not found");
      } finally {
        streamsEnded += 1;
      }
    },
  });
  server = await startGrpcServer([implementation], { host: "127.0.0.1", port: 0, ready: async () => ready });
});
afterAll(async () => {
  for (const client of open) client.close();
  await server.close(1000);
});

function client(make: grpc.ServiceClientConstructor): GrpcClient {
  const made = new make(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
  open.push(made);
  return made as unknown as GrpcClient;
}

function ask(of: GrpcClient, method: string, request: object, deadlineMs = 60_000): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    (of as unknown as Record<string, (...args: unknown[]) => void>)[method]!(
      request,
      new grpc.Metadata(),
      { deadline: Date.now() + deadlineMs },
      (error: grpc.ServiceError | null, answer: Record<string, unknown>) =>
        error === null ? resolve(answer) : reject(error),
    );
  });
}

/** Reads the numbers of a stream, and cancels it after the number `last`. */
async function read(of: GrpcClient, request: object, last?: number): Promise<number[]> {
  const stream = (of as unknown as Record<string, (request: object) => grpc.ClientReadableStream<object>>)["Count"]!(
    request,
  );
  const numbers: number[] = [];
  for await (const message of stream as AsyncIterable<{ numbers: number[] }>) {
    numbers.push(...message.numbers);
    if (message.numbers[0] === last) stream.cancel();
  }
  return numbers;
}

describe("a plain gRPC client", () => {
  test("calls a service", async () => {
    const echo = client(loaded.tidemark.testing.v1.EchoService);
    expect(await ask(echo, "Read", { text: "hi", numbers: [1, 2.5] })).toEqual({ text: "hi", numbers: [1, 2.5] });
  });

  test("gets the gRPC status that belongs to the reason", async () => {
    const echo = client(loaded.tidemark.testing.v1.EchoService);
    await expect(ask(echo, "Fail", {})).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
      details: "run not found",
    });
  });

  test("has its own deadline kept", async () => {
    const echo = client(loaded.tidemark.testing.v1.EchoService);
    await expect(ask(echo, "Hang", {}, 100)).rejects.toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });
  });

  test("reads a stream, and its error", async () => {
    const echo = client(loaded.tidemark.testing.v1.EchoService);
    expect(await read(echo, { text: "x", numbers: [1, 2, 3] })).toEqual([1, 2, 3]);
    await expect(read(echo, { text: "fail", numbers: [1] })).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
  });

  test("that cancels a stream ends it", async () => {
    const echo = client(loaded.tidemark.testing.v1.EchoService);
    const before = streamsEnded;
    const numbers = Array.from({ length: 5000 }, (_, i) => i);
    await expect(read(echo, { text: "x".repeat(100_000), numbers }, 3)).rejects.toMatchObject({
      code: grpc.status.CANCELLED,
    });
    await until("the end of the stream", () => streamsEnded === before + 1);
  });

  test("sees the health of the server and of each service change with readiness", async () => {
    const health = client(loaded.grpc.health.v1.Health);
    expect(await ask(health, "Check", {})).toEqual({ status: "SERVING" });
    expect(await ask(health, "Check", { service: "tidemark.testing.v1.EchoService" })).toEqual({ status: "SERVING" });
    ready = false;
    expect(await ask(health, "Check", {})).toEqual({ status: "NOT_SERVING" });
    ready = true;
    await expect(ask(health, "Check", { service: "nobody" })).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
  });

  test("explores the server through reflection", async () => {
    const reflection = client(loaded.grpc.reflection.v1.ServerReflection);
    const stream = (reflection as unknown as Record<string, () => grpc.ClientDuplexStream<object, object>>)[
      "ServerReflectionInfo"
    ]!();
    const answers: Record<string, never>[] = [];
    const ended = new Promise<void>((resolve, reject) => {
      stream.on("data", (answer: Record<string, never>) => answers.push(answer));
      stream.on("end", resolve);
      stream.on("error", reject);
    });
    stream.write({ listServices: "" });
    stream.write({ fileContainingSymbol: "tidemark.testing.v1.EchoService" });
    stream.write({ fileContainingSymbol: "tidemark.testing.v1.EchoService.Read" });
    stream.write({ fileByFilename: "no/such.proto" });
    stream.end();
    await ended;
    const listed = answers[0]?.["listServicesResponse"] as unknown as { service: { name: string }[] };
    expect(listed.service.map(({ name }) => name)).toContain("tidemark.testing.v1.EchoService");
    for (const index of [1, 2]) {
      const files = answers[index]?.["fileDescriptorResponse"] as unknown as { fileDescriptorProto: Uint8Array[] };
      const names = files.fileDescriptorProto.map((file) => fromBinary(FileDescriptorProtoSchema, file).name);
      expect(names).toContain("tidemark/testing/v1/echo.proto");
    }
    expect(answers[3]).toMatchObject({ errorResponse: { errorCode: grpc.status.NOT_FOUND } });
  });
});

describe("a server with a token", () => {
  let guarded: GrpcServer;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    const implementation = implement(EchoService as GenService<(typeof EchoService)["method"]>, {
      read: async (request) => ({ text: request.text, numbers: request.numbers }),
      write: async (request) => ({ text: request.text }),
      fail: async () => ({ text: "" }),
      hang: () => new Promise(() => {}),
      count: async function* () {},
    });
    const options = { host: "127.0.0.1", port: 0, ready: async () => true, token: "s3cret" };
    guarded = await startGrpcServer([implementation], options);
    session = connect(`http://127.0.0.1:${guarded.port}`);
  });
  afterAll(async () => {
    session.destroy();
    await guarded.close(1000);
  });

  /** Sends headers without the body that they announce, and returns the answer. */
  async function sendHeaders(headers: OutgoingHttpHeaders): Promise<IncomingHttpHeaders & { body: string }> {
    const stream = session.request({ ":method": "POST", te: "trailers", ...headers }, { endStream: false });
    const answered = new Promise<IncomingHttpHeaders>((resolve) => stream.once("response", resolve));
    const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
    let body = "";
    stream.on("data", (bytes: Buffer) => (body += bytes.toString()));
    const answer = await answered;
    await closed;
    return { ...answer, body };
  }

  const path = `/${EchoService.typeName}/Write`;
  test.each([
    ["a gRPC method", { ":path": path, "content-type": "application/grpc+proto" }],
    ["a method that does not exist", { ":path": "/tidemark.Nothing/Here", "content-type": "application/grpc" }],
    ["gRPC-Web", { ":path": path, "content-type": "application/grpc-web+proto" }],
    ["a wrong token", { ":path": path, "content-type": "application/grpc", "tidemark-internal-token": "s3cre!" }],
  ])("refuses %s before the body is sent", async (_name, headers) => {
    const answer = await sendHeaders(headers);
    expect(answer).toMatchObject({ ":status": 200, "grpc-status": "16", "content-type": headers["content-type"] });
  });

  test("refuses Connect in Connect's form, before the body is sent", async () => {
    const answer = await sendHeaders({ ":path": path, "content-type": "application/proto" });
    expect(answer[":status"]).toBe(401);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "unauthenticated" });
  });

  test("reports its health to everyone, but reads no long message from them", async () => {
    const health = new loaded.grpc.health.v1.Health(
      `127.0.0.1:${guarded.port}`,
      grpc.credentials.createInsecure(),
    ) as unknown as GrpcClient;
    open.push(health);
    expect(await ask(health, "Check", {})).toEqual({ status: "SERVING" });
    await expect(ask(health, "Check", { service: "x".repeat(100_000) })).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
    });
  });
});

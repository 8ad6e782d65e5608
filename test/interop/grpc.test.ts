import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { toBinary, create } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { requireServers } from "@tidemark/testkit";
import { startStack, type Stack } from "../stack/stack.ts";

// What somebody with a plain gRPC library, our .proto files and the internal token can do.

type Answer = Record<string, unknown>;
type Loaded = {
  tidemark: Record<string, { v1: Record<string, grpc.ServiceClientConstructor> }>;
  grpc: { health: { v1: Record<string, grpc.ServiceClientConstructor> } };
};

const root = join(import.meta.dirname, "../../proto");
const files = ["runs", "control", "ingest"].map((name) => `tidemark/${name}/v1/${name}.proto`);
const loaded = grpc.loadPackageDefinition(
  loadSync([...files, "grpc/health/v1/health.proto"], { includeDirs: [root], enums: String, longs: Number }),
) as unknown as Loaded;

const services = [
  { module: "runs", service: "RunsService", domain: "runs" },
  { module: "control", service: "ControlService", domain: "control" },
  { module: "ingest", service: "IngestService", domain: "ingest" },
  { module: "ingest-read", service: "IngestReadService", domain: "ingest" },
] as const;

const modes =
  (await requireServers(["nats-server", "minio"])) === undefined
    ? (["embedded"] as const)
    : (["embedded", "split"] as const);

describe.each(modes)("a plain gRPC client, %s", (mode) => {
  let stack: Stack;
  let org = "";
  const open: grpc.Client[] = [];
  beforeAll(async () => {
    stack = await startStack(mode);
    org = (await stack.organization()).orgId;
  });
  afterAll(async () => {
    for (const client of open) client.close();
    await stack.stop();
  });

  const client = (module: string, make: grpc.ServiceClientConstructor): grpc.Client => {
    const made = new make(`127.0.0.1:${stack.grpcPorts.get(module)}`, grpc.credentials.createInsecure());
    open.push(made);
    return made;
  };
  const metadata = (token = stack.internalToken): grpc.Metadata => {
    const made = new grpc.Metadata();
    made.set("tidemark-internal-token", token);
    const identity = create(IdentitySchema, {
      orgId: org,
      kind: CallerKind.API_KEY,
      scopes: ["sdk:ingest", "export:read"],
      planTier: "premium",
    });
    made.set("tidemark-identity-bin", Buffer.from(toBinary(IdentitySchema, identity)));
    return made;
  };
  const ask = (of: grpc.Client, method: string, request: object, meta = metadata()): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const rpc = (of as unknown as Record<string, (...args: unknown[]) => void>)[method];
      if (rpc === undefined) throw new Error(`no method ${method}`);
      rpc.call(
        of,
        request,
        meta,
        { deadline: Date.now() + 60_000 },
        (error: grpc.ServiceError | null, answer: Answer) => (error === null ? resolve(answer) : reject(error)),
      );
    });

  test.each(services)("finds $service serving", async ({ module, service, domain }) => {
    const health = client(module, loaded.grpc.health.v1["Health"]!);
    const answer = await ask(health, "Check", { service: `tidemark.${domain}.v1.${service}` }, new grpc.Metadata());
    expect(answer).toEqual({ status: "SERVING" });
  });

  test.each(services)("calls $service and is answered by a handler", async ({ module, service, domain }) => {
    const made = client(module, loaded.tidemark[domain]!.v1[service]!);
    const calls: Record<string, () => Promise<unknown>> = {
      RunsService: () => ask(made, "ListProjects", { limit: 10 }),
      ControlService: () => ask(made, "GetProjection", { limit: 10 }),
      IngestService: () =>
        ask(made, "AppendLogLines", {
          runId: randomUUID(),
          stream: "stdout",
          lines: [{ lineNumber: 1, message: "x" }],
        }).catch((error: unknown) => error),
      IngestReadService: () =>
        ask(made, "ListLogLines", { runId: randomUUID(), stream: "stdout", limit: 10 }).catch(
          (error: unknown) => error,
        ),
    };
    const answer = await calls[service]!();
    // Of a run that does not exist the answer is NOT_FOUND, which only a handler can know.
    if (answer instanceof Error) expect(answer).toMatchObject({ code: grpc.status.NOT_FOUND });
    else expect(answer).toEqual(expect.any(Object));
  });

  test("is not believed without the internal token", async () => {
    const made = client("runs", loaded.tidemark["runs"]!.v1["RunsService"]!);
    await expect(ask(made, "ListProjects", {}, metadata("wrong"))).rejects.toMatchObject({
      code: grpc.status.UNAUTHENTICATED,
    });
  });
});

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { toBinary, create } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { allModules } from "@tidemark/all";
import { describeModes } from "../stack/modes.ts";

// What a client with a plain gRPC library, our .proto files and the internal token can do.

type Answer = Record<string, unknown>;
type Loaded = {
  tidemark: Record<string, { v1: Record<string, grpc.ServiceClientConstructor> }>;
  grpc: Record<"health" | "reflection", { v1: Record<string, grpc.ServiceClientConstructor> }>;
};
type Listed = { listServicesResponse: { service: { name: string }[] } };

const root = join(import.meta.dirname, "../../proto");
const services = allModules.flatMap(({ name, provides }) =>
  provides.map(({ name: service, typeName, file }) => ({
    module: name,
    service,
    typeName,
    file: `${file.name}.proto`,
  })),
);
const files = [...new Set(services.map(({ file }) => file))];
const loaded = grpc.loadPackageDefinition(
  loadSync([...files, "grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto"], {
    includeDirs: [root],
    enums: String,
    longs: Number,
  }),
) as unknown as Loaded;
const runsService = loaded.tidemark["runs"]!.v1["RunsService"]!;

describeModes("a plain gRPC client", (stack) => {
  let org = "";
  const open: grpc.Client[] = [];
  beforeAll(async () => {
    org = (await stack().organization()).orgId;
  });
  afterAll(() => {
    for (const client of open) client.close();
  });

  const client = (module: string, make: grpc.ServiceClientConstructor): grpc.Client => {
    const made = new make(`127.0.0.1:${stack().grpcPorts.get(module)}`, grpc.credentials.createInsecure());
    open.push(made);
    return made;
  };
  const metadata = (claims: { scopes?: string[] } = {}): grpc.Metadata => {
    const made = new grpc.Metadata();
    made.set("tidemark-internal-token", stack().internalToken);
    const identity = create(IdentitySchema, {
      orgId: org,
      kind: CallerKind.API_KEY,
      scopes: ["sdk:ingest", "export:read"],
      planTier: "premium",
      ...claims,
    });
    made.set("tidemark-identity-bin", Buffer.from(toBinary(IdentitySchema, identity)));
    return made;
  };
  const ask = (of: grpc.Client, method: string, request: object, meta = metadata(), seconds = 55): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const rpc = (of as unknown as Record<string, (...args: unknown[]) => void>)[method];
      if (rpc === undefined) throw new Error(`no method ${method}`);
      rpc.call(
        of,
        request,
        meta,
        { deadline: Date.now() + seconds * 1000 },
        (error: grpc.ServiceError | null, answer: Answer) => (error === null ? resolve(answer) : reject(error)),
      );
    });

  /** Asks for the beginning of an export, which is a stream. */
  const exportWith = (of: grpc.Client, meta = metadata()): AsyncIterable<Answer> =>
    (of as unknown as { exportRuns(request: object, meta: grpc.Metadata): AsyncIterable<Answer> }).exportRuns(
      { filter: {}, order: { sortBy: "created" }, onlyBeginning: true },
      meta,
    );

  test.each(services)("finds $service serving", async ({ module, typeName }) => {
    const health = client(module, loaded.grpc.health.v1["Health"]!);
    const answer = await ask(health, "Check", { service: typeName }, new grpc.Metadata());
    expect(answer).toEqual({ status: "SERVING" });
  });

  const calls: Readonly<Record<string, (made: grpc.Client) => Promise<unknown>>> = {
    RunsService: (made) => ask(made, "ListProjects", { limit: 10 }),
    ControlService: (made) => ask(made, "GetProjection", { limit: 10 }),
    IngestService: (made) =>
      ask(made, "AppendLogLines", {
        runId: randomUUID(),
        stream: "stdout",
        lines: [{ lineNumber: 1, message: "x" }],
      }).catch((error: unknown) => error),
    IngestReadService: (made) =>
      ask(made, "ListLogLines", { runId: randomUUID(), stream: "stdout", limit: 10 }).catch((error: unknown) => error),
    ArtifactsService: (made) => ask(made, "ListCollections", {}),
    TracesService: (made) =>
      ask(made, "GetTrace", { runId: randomUUID(), traceId: "0".repeat(31) + "1", spanLimit: 1 }).catch(
        (error: unknown) => error,
      ),
    ReportsService: (made) => ask(made, "ListReports", {}),
    ImportsService: (made) => ask(made, "ListJobs", {}),
    ExportService: (made) => Array.fromAsync(exportWith(made)),
  };
  test.each(Object.entries(calls))("calls %s and is answered by a handler", async (service, call) => {
    const found = services.find((one) => one.service === service)!;
    const [domain = ""] = found.typeName.split(".").slice(1);
    const answer = await call(client(found.module, loaded.tidemark[domain]!.v1[service]!));
    // For a run that does not exist the answer is NOT_FOUND, which only a handler can know.
    if (answer instanceof Error) expect(answer).toMatchObject({ code: grpc.status.NOT_FOUND });
    else expect(answer).toEqual(expect.any(Object));
  });

  test.each([
    ["a wrong internal token", (meta: grpc.Metadata) => meta.set("tidemark-internal-token", "wrong")],
    ["no internal token", (meta: grpc.Metadata) => meta.remove("tidemark-internal-token")],
    ["no identity", (meta: grpc.Metadata) => meta.remove("tidemark-identity-bin")],
  ])("is not believed with %s", async (_name, change) => {
    const meta = metadata();
    change(meta);
    const answer = ask(client("runs", runsService), "ListProjects", { limit: 10 }, meta);
    await expect(answer).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
  });

  test("is not let in by an API key", async () => {
    const { key } = await stack().organization();
    const meta = new grpc.Metadata();
    meta.set("authorization", `Bearer ${key}`);
    const answer = ask(client("runs", runsService), "ListProjects", { limit: 10 }, meta);
    await expect(answer).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
  });

  test("may list projects without any scope: the gateway checks scopes", async () => {
    const answer = ask(client("runs", runsService), "ListProjects", { limit: 10 }, metadata({ scopes: [] }));
    await expect(answer).resolves.toEqual(expect.any(Object));
  });

  test("learns the services from reflection, without the internal token", async () => {
    const stub = client("runs", loaded.grpc.reflection.v1["ServerReflection"]!) as unknown as {
      serverReflectionInfo(): grpc.ClientDuplexStream<object, Listed>;
    };
    const stream = stub.serverReflectionInfo();
    stream.end({ listServices: "" });
    const [answer] = await Array.fromAsync(stream as AsyncIterable<Listed>);
    const names = answer?.listServicesResponse.service.map(({ name }) => name);
    expect(names).toContain("tidemark.runs.v1.RunsService");
  });

  test("gets the reason of an error with it", async () => {
    const answer = ask(client("runs", runsService), "GetRun", { runId: randomUUID(), metricLimit: 10 });
    const error = (await answer.catch((thrown: unknown) => thrown)) as grpc.ServiceError;
    expect(error).toMatchObject({ code: grpc.status.NOT_FOUND, details: "run not found" });
    const [bytes] = error.metadata.get("grpc-status-details-bin");
    expect(String(bytes)).toContain("type.googleapis.com/tidemark.common.v1.ErrorDetail");
    expect(String(bytes)).toContain("not_found");
  });

  test("may set a deadline of a minute and not more", async () => {
    const made = client("runs", runsService);
    const within = (seconds: number) => ask(made, "ListProjects", { limit: 10 }, metadata(), seconds);
    await expect(within(59)).resolves.toEqual(expect.any(Object));
    await expect(within(90)).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
  });
});

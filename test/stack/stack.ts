import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allModules } from "@tidemark/all";
import { migrateModules, migrationsOf } from "@tidemark/host";
import { freePort, startMinio, startNats, type Minio } from "@tidemark/local";
import { createTestDatabase, requireServers, until } from "@tidemark/testkit";
import { startChild, type Child, untilReady } from "./child.ts";
import { createApi, type Api } from "./client.ts";
import { createLogins } from "./logins.ts";
import { startServer, type Server } from "./server.ts";
import { attach, type Mode, type Stack } from "./attach.ts";

export type { Mode, Stack } from "./attach.ts";

/** A stack that only the test uses. */
export type OwnStack = Stack & {
  /** Module name to its process; in embedded mode all names lead to the one process. */
  readonly children: ReadonlyMap<string, Child>;
  readonly nats: Pick<Server, "stop" | "start" | "signal"> | undefined;
  /** The object store of split mode, and the output of its first start. */
  readonly minio: (Server & { readonly first: Minio }) | undefined;
  /** Kills a module's process and starts it again, from now on with this limit if one is named. */
  restart(module: string, limits?: ChildLimits): Promise<void>;
  /**
   * Starts a second gateway with a second control service, in one process, over the same database and
   * events, with these settings in addition to the stack's, and waits until it is ready. Ends with the stack. Split mode only.
   */
  addReplica(settings?: Readonly<Record<string, string>>): Promise<Replica>;
  stop(): Promise<void>;
};

/** Another way in to the same installation. */
export type Replica = {
  readonly child: Child;
  /** Without credentials. */
  readonly api: Api;
};

/** Settings beyond the usual ones. */
export type StackOptions = {
  settings?: Record<string, string>;
  /** Where its folder is made; the system's folder for temporary files unless said. */
  parentDirectory?: string | undefined;
  /** Use this database instead of a new one. */
  databaseUrl?: string;
} & ChildLimits;

/** Limits of its processes. */
export type ChildLimits = {
  /** The longest file that a process may write, in bytes; a multiple of 512. */
  fileBytesMax?: number | undefined;
};

const moduleNames = allModules.map(({ name }) => name);

const BOOTSTRAP = "bootstrap-token-for-tests-0123456789";
const INTERNAL = "internal-token-for-tests-0123456789";

async function splitServers(directory: string) {
  const servers = await requireServers(["nats-server", "minio"]);
  if (servers === undefined) return undefined;
  const at = (name: "nats-server" | "minio"): string => servers.get(name)!;
  return {
    nats: await startServer(join(directory, "nats"), (options) => startNats({ path: at("nats-server"), ...options })),
    minio: await startServer(join(directory, "minio"), (options) => startMinio({ path: at("minio"), ...options })),
  };
}

/** Starts a stack and waits until it is ready. @throws Error with the processes' output when it does not become ready */
export async function startStack(mode: Mode, options: StackOptions = {}): Promise<OwnStack> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await tryStack(mode, options);
    } catch (error) {
      // Between the choice of a port and its use, a server of another test may take it.
      if (attempts === 3 || !String(error).includes("EADDRINUSE")) throw error;
    }
  }
}

const databaseSettings = (url: string | undefined): Record<string, string> =>
  url === undefined ? {} : { TIDEMARK_DATABASE_URL: url };

const freePorts = async () => ({ internal: await freePort(), grpc: await freePort(), metrics: await freePort() });

async function tryStack(mode: Mode, options: StackOptions): Promise<OwnStack> {
  const directory = await mkdtemp(join(options.parentDirectory ?? tmpdir(), "tidemark-stack-"));
  const own = options.databaseUrl === undefined ? await createTestDatabase(migrationsOf(allModules)) : undefined;
  const databaseUrl = options.databaseUrl ?? own!.url;
  if (own === undefined) await migrateModules(databaseUrl, allModules);
  const logins = await createLogins(databaseUrl);
  const servers = mode === "split" ? await splitServers(directory) : undefined;
  if (mode === "split" && servers === undefined) throw new Error("split mode needs nats-server and MinIO");

  const blobDirectory = servers?.minio.server.directory ?? join(directory, "blobs");
  const exportDirectory = join(directory, "exports");
  const groups = mode === "split" ? moduleNames : ["all"];
  const ports = new Map<string, { internal: number; grpc: number; metrics: number }>();
  for (const group of groups) {
    ports.set(group, await freePorts());
  }
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const peers =
    mode === "split" ? groups.map((group) => `${group}=http://127.0.0.1:${ports.get(group)!.internal}`) : [];

  const settingsOf = (group: string): Record<string, string> => ({
    TIDEMARK_LOG_LEVEL: "warn",
    ...databaseSettings(logins.urlOf(group)),
    TIDEMARK_MIGRATE: "off",
    TIDEMARK_INTERNAL_TOKEN: INTERNAL,
    TIDEMARK_INTERNAL_PORT: String(ports.get(group)!.internal),
    TIDEMARK_GRPC_PORT: String(ports.get(group)!.grpc),
    TIDEMARK_METRICS_PORT: String(ports.get(group)!.metrics),
    TIDEMARK_PEERS: peers.join(","),
    TIDEMARK_DRAIN_SECONDS: "5",
    TIDEMARK_LIMITS: "off",
    TIDEMARK_BOOTSTRAP_TOKEN: BOOTSTRAP,
    TIDEMARK_DEV_AUTH: "true",
    TIDEMARK_PORT: String(port),
    TIDEMARK_EXPORT_DIRECTORY: exportDirectory,
    ...(servers === undefined
      ? { TIDEMARK_BLOB_DIRECTORY: blobDirectory }
      : {
          TIDEMARK_NATS_URL: servers.nats.first.url,
          TIDEMARK_NATS_TOKEN: servers.nats.first.token,
          TIDEMARK_S3_ENDPOINT: servers.minio.first.endpoint,
          TIDEMARK_S3_PUBLIC_ENDPOINT: servers.minio.first.endpoint,
          TIDEMARK_S3_ACCESS_KEY: servers.minio.first.accessKey,
          TIDEMARK_S3_SECRET_KEY: servers.minio.first.secretKey,
        }),
    ...options.settings,
  });

  const children = new Map<string, Child>();
  let limits: ChildLimits = options;
  const start = async (group: string): Promise<void> => {
    const child = await startChild(group, settingsOf(group), limits);
    for (const name of group === "all" ? moduleNames : [group]) children.set(name, child);
  };
  await Promise.all(groups.map(start));

  const release = async (): Promise<void> => {
    await servers?.nats.server.stop();
    await servers?.minio.server.stop();
    await own?.drop();
    await logins.drop();
    await rm(directory, { recursive: true, force: true });
  };

  const portsOf = (kind: "internal" | "grpc" | "metrics"): [string, number][] =>
    moduleNames.map((name) => [name, (ports.get(name) ?? ports.get("all"))![kind]]);
  const stack = attach({
    mode,
    baseUrl,
    bootstrapToken: BOOTSTRAP,
    internalToken: INTERNAL,
    databaseUrl,
    grpcPorts: portsOf("grpc"),
    internalPorts: portsOf("internal"),
    metricsPorts: portsOf("metrics"),
    blobDirectory,
  });
  const { api, internalPorts } = stack;
  const dead = new Promise<never>((_, reject) => {
    for (const child of new Set(children.values())) {
      void child.ended.then((code) => reject(new Error(`${child.name} ended with ${code}:\n${child.output()}`)));
    }
  });
  dead.catch(() => {});
  const ready = () => untilReady({ api, children, internalPorts });
  try {
    await Promise.race([ready(), dead]);
  } catch (error) {
    await Promise.all([...new Set(children.values())].map((child) => child.end("SIGKILL")));
    await release();
    throw new Error(`the stack did not become ready: ${String(error)}`, { cause: error });
  }

  const replicas: Replica[] = [];

  return {
    ...stack,
    children,
    nats: servers?.nats.server,
    minio: servers && { ...servers.minio.server, first: servers.minio.first },
    async restart(module, changed = limits) {
      limits = changed;
      const group = mode === "split" ? module : "all";
      await children.get(module)?.end("SIGKILL");
      await start(group);
      const child = children.get(module)!;
      const back = until(`${module} to be ready`, async () => {
        const answer = await fetch(`http://127.0.0.1:${(ports.get(group) ?? ports.get("all"))!.internal}/readyz`);
        await answer.arrayBuffer();
        return answer.ok;
      });
      const early = child.ended.then((code) => `${module} ended with ${code}:\n${child.output()}`);
      const fault = await Promise.race([back.then(() => undefined), early]);
      if (fault !== undefined) throw new Error(fault);
      await ready();
    },
    async addReplica(settings = {}) {
      if (mode !== "split") throw new Error("only processes apart have replicas");
      const name = `replica ${replicas.length + 1}`;
      ports.set(name, await freePorts());
      const ownPort = String(await freePort());
      const child = await startChild("control,gateway", {
        ...settingsOf(name),
        ...databaseSettings(logins.urlOf("control")),
        TIDEMARK_PORT: ownPort,
        ...settings,
      });
      const replica = { child, api: createApi(`http://127.0.0.1:${ownPort}`) };
      replicas.push(replica);
      await until(`${name} to be ready`, async () => (await replica.api.get("/readyz")).status === 200);
      return replica;
    },
    async stop() {
      // Gateways first, so that their last report finds a receiver; otherwise they wait for one.
      await Promise.all([children.get("gateway")!, ...replicas.map(({ child }) => child)].map((one) => one.end()));
      await Promise.all([...new Set(children.values())].map((one) => one.end()));
      await release();
    },
  };
}

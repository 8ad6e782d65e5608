import { setFlagsFromString } from "node:v8";
import { parseConfig, type ConfigGroups, type Environment } from "@tidemark/config";
import { isAppError, reasons } from "@tidemark/errors";
import { createCall, createUnaryServer, startGrpcServer, type CallObserver } from "@tidemark/rpc";
import { createLog, createMetrics, startTracing, type Log } from "@tidemark/telemetry";
import { hostConfig } from "./host-config.ts";
import { startInternalServer } from "./internal-server.ts";
import type { ModuleContext, ModuleDefinition, RunningModule } from "./module.ts";
import { createPeers } from "./peers.ts";
import { startOrder } from "./start-order.ts";
import { createPools, migrateModules, openBlob, openBus } from "./stores.ts";
import { traced } from "./traced.ts";

/** A running process. */
export type Host = {
  readonly internalPort: number;
  readonly grpcPort: number;
  readonly log: Log;
  /** Resolves to true if every module can work. */
  ready(): Promise<boolean>;
  /** Drains and stops all parts in the reverse order of the start. May be called twice. */
  stop(): Promise<void>;
};

/** The parts of a process. */
export type HostOptions = {
  /** Name in logs and metrics: the module's, or `tidemark` when several share the process. */
  name: string;
  modules: readonly ModuleDefinition[];
  environment: Environment;
  /** TIDEMARK_* names that are read elsewhere: by modules of other processes with the same environment, or by the launcher. */
  alsoKnown?: readonly string[];
  /** Where log lines go instead of standard output. */
  logDestination?: { write(line: string): void };
};

/** Returns the configuration groups of a process: its own and those of its modules. */
export function configGroups(modules: readonly ModuleDefinition[]): ConfigGroups {
  return { host: hostConfig, ...Object.fromEntries(modules.map((module) => [module.name, module.config])) };
}

function codeOf(error: unknown): string {
  if (error === undefined) return "ok";
  return isAppError(error) ? reasons[error.reason].rpc : "internal";
}

/**
 * Starts the modules in the order of their needs, after the database is up to date, then opens the
 * ports. If a step fails, everything that was started is stopped.
 * @throws ConfigError with all faults of the settings; Error of the first module that cannot start.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  judgeBuffersWithTheHeap();
  const modules = startOrder(options.modules);
  const settings = parseConfig({ host: hostConfig, ...configGroups(modules) }, options.environment, {
    alsoKnown: options.alsoKnown ?? [],
  });
  const host = settings.host;
  const log = createLog({
    level: host.logLevel,
    service: options.name,
    ...(options.logDestination === undefined ? {} : { destination: options.logDestination }),
  });
  const metrics = createMetrics(options.name);
  const tracing = await startTracing({ service: options.name, environment: options.environment });
  const observer: CallObserver = ({ service, method, side, seconds, error }) => {
    metrics.rpcCall({ service, method, side, seconds, code: codeOf(error) });
    // Only this process knows why a peer did not answer; the caller learns only that it did not.
    if (side === "client" && isAppError(error) && error.reason === "service_unavailable") {
      log.warn("a peer could not be asked", { peer: service, method, error });
    }
  };

  // How to stop each part that was started; a stop or a failed start runs these backwards.
  const undo: (() => Promise<void>)[] = [async () => tracing.shutdown()];
  const unwind = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      await step().catch((error: unknown) => log.error("a part did not stop cleanly", { error }));
    }
  };

  try {
    if (host.migrate && host.databaseUrl !== undefined && modules.some(({ schema }) => schema !== undefined)) {
      const applied = await migrateModules(host.databaseUrl, modules);
      if (applied.length > 0) log.info("database migrated", { applied });
    }

    const pools = createPools(host, log, metrics);
    undo.push(() => pools.close());
    const bus = await openBus(host, log);
    undo.push(() => bus.close());
    const peers = createPeers(host.peers, { observer, token: host.internalToken });
    undo.push(() => peers.close());

    const running: RunningModule[] = [];
    const drains: (() => Promise<void>)[] = [];
    for (const module of modules) {
      const own = log.child({ module: module.name });
      const schema = module.schema;
      const context: ModuleContext = {
        config: (settings as Record<string, ModuleContext["config"]>)[module.name] ?? {},
        log: own,
        metrics,
        bus,
        db: () => pools.service(needSchema(module.name, schema), module.name),
        connection: () => pools.connection(needSchema(module.name, schema), module.name),
        workerDb: () => pools.worker(needSchema(module.name, schema), module.name),
        blob: () => openBlob(host),
        client: (service) => peers.clientFor(module, service),
        isLocal: (service) => peers.isLocal(service),
        peersReady: () => peers.ready(module),
        ownCall: () => createCall(),
        now: () => new Date(),
      };
      const made = await module.start(context);
      const started = { ...made, implementations: made.implementations.map(traced) };
      running.push(started);
      peers.addLocal(module.name, started);
      undo.push(async () => started.stop?.());
      if (started.drain !== undefined) drains.unshift(() => started.drain!());
    }

    const implementations = running.flatMap((module) => module.implementations);
    const ready = async () => (await Promise.all(running.map((module) => module.ready()))).every(Boolean);
    const onUnknownError = (error: unknown) => log.error("a request failed unexpectedly", { error });
    const rpc = createUnaryServer(implementations, { observer, onUnknownError, token: host.internalToken });
    const graceMs = host.drainSeconds * 1000;
    const internal = await startInternalServer({
      host: host.internalHost,
      port: host.internalPort,
      rpc,
      ready,
      metricsText: () => metrics.metricsText(),
    });
    undo.push(() => internal.close(graceMs));
    const grpc = await startGrpcServer(implementations, {
      host: host.internalHost,
      port: host.grpcPort,
      ready,
      observer,
      onUnknownError,
      token: host.internalToken,
    });
    undo.push(() => grpc.close(graceMs));
    undo.push(async () => {
      rpc.refuse();
      for (const drain of drains) await drain();
    });

    let stopping: Promise<void> | undefined;
    return {
      internalPort: internal.port,
      grpcPort: grpc.port,
      log,
      ready,
      stop: () => (stopping ??= unwind()),
    };
  } catch (error) {
    await unwind();
    throw error;
  }
}

function needSchema(module: string, schema: string | undefined): string {
  if (schema === undefined) throw new Error(`module ${module} declares no database schema`);
  return schema;
}

/**
 * Makes the garbage collector count buffers outside the JavaScript heap towards the limit of the whole memory. By default it starts a full collection
 * with every 64 MB of them, however small the heap is and however soon they are free again. With rows and columns of megabytes that is every third
 * request, and it took a third of the time of such requests.
 */
function judgeBuffersWithTheHeap(): void {
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}

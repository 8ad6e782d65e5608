import { setFlagsFromString } from "node:v8";
import { ConfigError, parseConfig, type Environment } from "./config/parse-config.ts";
import { type ConfigGroups } from "./config/define-config.ts";
import { isAppError, reasons } from "@tidemark/errors";
import { createCall, createUnaryServer, startGrpcServer, type CallObserver } from "@tidemark/rpc";
import { createTurns } from "@tidemark/work";
import { createLog, createMetrics, startTracing, type Log } from "@tidemark/telemetry";
import { exposureFault, guessFaults, type TokensBySetting } from "./exposure.rules.ts";
import { hostConfig, version } from "./host-config.ts";
import { startInternalServer, startMetricsServer } from "./internal-server.ts";
import { migrateModules, type ModuleContext, type ModuleDefinition, type RunningModule, startOrder } from "./module.ts";
import { createPeers, traced } from "./peers.ts";
import { createPools, openBlob, openBus } from "./stores.ts";

/** A process that runs. */
export type Host = {
  readonly internalPort: number;
  readonly grpcPort: number;
  readonly metricsPort: number;
  readonly log: Log;
  /** Reports whether every module can work. */
  ready(): Promise<boolean>;
  /** Drains, then ends everything in the reverse order of the start. May be called twice. */
  stop(): Promise<void>;
};

/** The parts of a process. */
export type HostOptions = {
  /** Name in logs and metrics: the module's, or `tidemark` when several share the process. */
  name: string;
  modules: readonly ModuleDefinition[];
  environment: Environment;
  /** TIDEMARK_* names that others read: modules of other processes with the same environment, the launcher. */
  alsoKnown?: readonly string[];
  /** Where log lines go instead of standard output. */
  logDestination?: { write(line: string): void };
};

/** Returns the configuration groups of a process: its own and its modules'. */
export function configGroups(modules: readonly Pick<ModuleDefinition, "name" | "config">[]): ConfigGroups {
  return { host: hostConfig, ...Object.fromEntries(modules.map((module) => [module.name, module.config])) };
}

function codeOf(error: unknown): string {
  if (error === undefined) return "ok";
  return isAppError(error) ? reasons[error.reason].rpc : "internal";
}

/**
 * Brings the database up to date, starts the modules in the order of their needs, then opens the
 * ports. When a step fails, the parts started before it are stopped.
 * @throws ConfigError with all faults of the settings, or because they open a port to others without a token; Error of the first module that cannot start.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  judgeBuffersWithTheHeap();
  const modules = startOrder(options.modules);
  const settings = parseConfig({ host: hostConfig, ...configGroups(modules) }, options.environment, {
    alsoKnown: options.alsoKnown ?? [],
  });
  const host = settings.host;
  const own = (module: ModuleDefinition): ModuleContext["config"] =>
    (settings as Record<string, ModuleContext["config"]>)[module.name] ?? {};
  const publicHosts = modules.flatMap((module) => module.listensOn?.(own(module)) ?? []);
  const tokens = Object.assign(
    {},
    ...modules.map((module) => module.exposureSecrets?.(own(module))),
  ) as TokensBySetting;
  const faults = [
    exposureFault([host.internalHost, host.metricsHost, ...publicHosts], host.internalToken),
    ...guessFaults(publicHosts, tokens),
  ].filter((fault) => fault !== undefined);
  if (faults.length > 0) throw new ConfigError(faults);
  const log = createLog({
    level: host.logLevel,
    service: options.name,
    ...(options.logDestination === undefined ? {} : { destination: options.logDestination }),
  });
  const metrics = createMetrics(options.name, version);
  const tracing = await startTracing({ service: options.name, environment: options.environment });
  const observer: CallObserver = ({ service, method, side, seconds, error }) => {
    metrics.rpcCall({ service, method, side, seconds, code: codeOf(error) });
    // Only this process knows why a peer did not answer; the caller learns only that it did not.
    if (side === "client" && isAppError(error) && error.reason === "service_unavailable") {
      log.warn("a peer could not be asked", { peer: service, method, error });
    }
  };

  // How to end what was started; a stop or a failed start runs it backwards.
  const undo: (() => Promise<void>)[] = [async () => tracing.shutdown()];
  const unwind = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      await step().catch((error: unknown) => log.error("a part did not stop cleanly", { error }));
    }
  };

  try {
    const ownerUrl = host.ownerDatabaseUrl ?? host.databaseUrl;
    if (host.migrate && ownerUrl !== undefined && modules.some(({ schema }) => schema !== undefined)) {
      const applied = await migrateModules(ownerUrl, modules);
      if (applied.length > 0) log.info("database migrated", { applied });
    }

    const pools = createPools(host, log, metrics);
    undo.push(() => pools.close());
    const turns = createTurns();
    undo.push(async () => turns.close());
    metrics.watchTurns(turns.waiting);
    const bus = await openBus(host, log);
    undo.push(() => bus.close());
    const peers = createPeers(host.peers, { observer, token: host.internalToken });
    undo.push(() => peers.close());

    const running: RunningModule[] = [];
    const drains: (() => Promise<void>)[] = [];
    for (const module of modules) {
      const schema = module.schema;
      const context: ModuleContext = {
        config: own(module),
        log: log.child({ module: module.name }),
        metrics,
        bus,
        db: () => pools.service(needSchema(module.name, schema), module.name),
        connection: () => pools.connection(needSchema(module.name, schema), module.name),
        workerDb: () => pools.worker(needWorker(module), module.name),
        blob: () => openBlob(host),
        client: (service) => peers.clientFor(module, service),
        isLocal: (service) => peers.isLocal(service),
        peersReady: () => peers.ready(module),
        turns,
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
    const rpc = createUnaryServer(implementations, { observer, onUnknownError, token: host.internalToken, turns });
    const graceMs = host.drainSeconds * 1000;
    const internal = await startInternalServer({
      host: host.internalHost,
      port: host.internalPort,
      rpc,
      ready,
    });
    undo.push(() => internal.close(graceMs));
    const figures = await startMetricsServer({
      host: host.metricsHost,
      port: host.metricsPort,
      metricsText: () => metrics.metricsText(),
    });
    undo.push(() => figures.close(graceMs));
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
      metricsPort: figures.port,
      log,
      ready,
      stop: () => (stopping ??= unwind()),
    };
  } catch (error) {
    await unwind();
    throw error;
  }
}

function needWorker({ name, schema, worker }: ModuleDefinition): string {
  if (worker === false) throw new Error(`module ${name} declares that it does no background work`);
  return needSchema(name, schema);
}

function needSchema(module: string, schema: string | undefined): string {
  if (schema === undefined) throw new Error(`module ${module} declares no database schema`);
  return schema;
}

/**
 * Has the garbage collector count buffers outside the JavaScript heap toward the limit of the whole heap. By default it
 * begins a full collection after every 64 MB of them, even when the heap is small and the buffers are soon free again: with
 * rows and columns of megabytes that is every third request, and it took a third of the time of such requests.
 */
function judgeBuffersWithTheHeap(): void {
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}

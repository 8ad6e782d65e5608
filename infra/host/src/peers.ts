import type { DescService } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import {
  connectPeer,
  createLocalClient,
  type CallObserver,
  type Client,
  type Implementation,
  type Peer,
} from "@tidemark/rpc";
import type { ModuleDefinition, RunningModule } from "./module.ts";
import { formatTraceparent, isTracing, parseTraceparent, withSpan } from "@tidemark/telemetry";

/** The services of other modules, in any process. */
export type Peers = {
  /** Makes the services of a module callable in this process. */
  addLocal(module: string, started: RunningModule): void;
  /** Returns the client that `module` uses for a service it needs. @throws Error for a service that it does not declare or whose address is unknown */
  clientFor<S extends GenServiceMethods>(module: ModuleDefinition, service: GenService<S>): Client<S>;
  /** Returns whether a service answers in this process. */
  isLocal(service: DescService): boolean;
  /** Asks all modules that `module` requires whether they are ready. */
  ready(module: ModuleDefinition): Promise<boolean>;
  close(): Promise<void>;
};

const READY_TIMEOUT_MS = 1000;

/** Parses `module=url` items. */
function parseAddresses(items: readonly string[]): Map<string, string> {
  return new Map(items.map((item) => [item.slice(0, item.indexOf("=")), item.slice(item.indexOf("=") + 1)]));
}

/** Finds peers: in this process where it runs the module, otherwise at the address in the settings. */
export function createPeers(
  addresses: readonly string[],
  options: { observer: CallObserver; token: string | undefined },
): Peers {
  const local = new Map<string, Implementation>();
  const remote = new Map<string, Peer>();
  const running = new Map<string, RunningModule>();
  const urls = parseAddresses(addresses);

  const moduleReady = async (name: string): Promise<boolean> => {
    const here = running.get(name);
    if (here !== undefined) return here.ready();
    const url = urls.get(name);
    if (url === undefined) return false;
    try {
      const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  };

  return {
    addLocal(module, started) {
      running.set(module, started);
      for (const implementation of started.implementations) local.set(implementation.service.typeName, implementation);
    },
    isLocal: (service) => local.has(service.typeName),
    async ready(module) {
      const names = [...new Set(module.needs.filter(({ optional }) => optional !== true).map((need) => need.module))];
      return (await Promise.all(names.map(moduleReady))).every(Boolean);
    },
    clientFor(module, service) {
      const need = module.needs.find((candidate) => candidate.service.typeName === service.typeName);
      if (need === undefined)
        throw new Error(`module ${module.name} does not declare that it needs ${service.typeName}`);
      const here = local.get(service.typeName);
      if (here !== undefined) return createLocalClient(service, here, options.observer);
      const url = urls.get(need.module);
      if (url === undefined) {
        throw new Error(
          `module ${module.name} needs ${need.module}: run it here or name its address in TIDEMARK_PEERS`,
        );
      }
      const peer = remote.get(url) ?? connectPeer(url, options);
      remote.set(url, peer);
      return peer.client(service);
    },
    async close() {
      await Promise.all([...remote.values()].map((peer) => peer.close()));
    },
  };
}

/**
 * Returns the same service with a span around every call while traces are recorded: a child of the
 * caller's span, in any process. While they are not, a call costs one more comparison.
 */
export function traced({ service, handlers }: Implementation): Implementation {
  const wrapped = Object.entries(handlers).map(([name, handler]): [string, typeof handler] => {
    const method = service.method[name]?.name ?? name;
    const attributes = { "rpc.system": "connect_rpc", "rpc.service": service.typeName, "rpc.method": method };
    return [
      name,
      (request, call) => {
        if (!isTracing()) return handler(request, call);
        const parent = call.traceparent === undefined ? undefined : parseTraceparent(call.traceparent);
        return withSpan(
          `${service.typeName}/${method}`,
          attributes,
          (trace) => handler(request, { ...call, traceparent: formatTraceparent(trace) }),
          { parent, kind: "server" },
        );
      },
    ];
  });
  return { service, handlers: Object.fromEntries(wrapped) };
}

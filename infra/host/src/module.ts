import type { DescService } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Bus } from "@tidemark/bus";
import type { Blob } from "@tidemark/blob";
import type { ConfigGroup, ConfigOf } from "./config/define-config.ts";
import { type Db, type DbOptions, type MigrationSet, migrate, platformMigrations } from "@tidemark/pg";
import type { Call, Client, Implementation } from "@tidemark/rpc";
import type { Log, Metrics } from "@tidemark/telemetry";
import type { Turns } from "@tidemark/work";

/** The context that a module gets when it starts. */
export type ModuleContext<Group extends ConfigGroup = ConfigGroup> = {
  readonly config: ConfigOf<Group>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Returns the pool of the module's own role. @throws Error when the module declares no database */
  db(): Db;
  /** Returns the options with which a thread of the module opens a pool like `db()`. @throws Error when the module declares no database */
  connection(): Pick<DbOptions, "url" | "role" | "application">;
  /** Returns the pool of the module's worker role: relay, sweeper, compactor. @throws Error when the module declares no database */
  workerDb(): Db;
  readonly bus: Bus;
  /** Opens the object store. @throws Error when neither a folder nor an S3 endpoint is configured */
  blob(): Promise<Blob>;
  /** Returns a client of a peer's service, in this process or over the network. @throws Error for a service not named in `needs` */
  client<S extends GenServiceMethods>(service: GenService<S>): Client<S>;
  /** Returns whether `client` of a service calls into this process; such calls cost almost nothing. */
  isLocal(service: DescService): boolean;
  /** Returns whether every module named in `needs` is ready, in any process; optional ones are not asked. */
  peersReady(): Promise<boolean>;
  /** Shares the event loop of this process among organizations. */
  readonly turns: Turns;
  /** Starts a call that the module makes for itself, with the default deadline. */
  ownCall(): Call;
  now(): Date;
};

/** A module that runs. */
export type RunningModule = {
  /** The RPC services it answers. */
  implementations: readonly Implementation[];
  /** Answers `/readyz`; false or a rejection means that no requests should be sent here. */
  ready(): Promise<boolean>;
  /** Takes no new work and finishes what it has begun. Peers still answer. */
  drain?(): Promise<void>;
  /** Ends timers, threads and subscriptions. The host closes pools and the bus. */
  stop?(): Promise<void>;
};

/** A part of the product that runs as a separate process or shares one with others. */
export type ModuleDefinition<Group extends ConfigGroup = ConfigGroup> = {
  /** Names the process, its address among the peers and its metrics: `runs`, `ingest-read`. */
  readonly name: string;
  readonly config: Group;
  /** The schema that it owns; its database role is `tidemark_<schema>`. Left out: no database. */
  readonly schema?: string;
  readonly migrations?: MigrationSet;
  /** False for a module without background work: it cannot become the worker role of its schema. */
  readonly worker?: false;
  /** The versioned views and functions of other schemas that its SQL names (`runs.run_refs_v1`); `npm test` compares the list with the SQL. */
  readonly reads?: readonly string[];
  /** The generated services that it answers. */
  readonly provides: readonly DescService[];
  /** Modules whose services it calls. They start first and stop last. */
  readonly needs: readonly ModuleNeed[];
  /** Returns the address of a port that it opens itself, in addition to those of the host. */
  listensOn?(config: ConfigOf<Group>): string;
  /** Returns the tokens that admit callers to that port, by their settings. Beyond loopback none may be guessable. */
  exposureSecrets?(config: ConfigOf<Group>): Readonly<Record<string, string | undefined>>;
  start(context: ModuleContext<Group>): Promise<RunningModule>;
};

/** A dependency on another module's service. Without an `optional` one the module works as well as it can, and is ready. */
export type ModuleNeed = { readonly module: string; readonly service: DescService; readonly optional?: true };

/** Checks the settings' types of a definition, and returns it as the host sees all modules. */
export function defineModule<Group extends ConfigGroup>(definition: ModuleDefinition<Group>): ModuleDefinition {
  return definition;
}

/**
 * Returns the modules, each after those that it needs; needs that run elsewhere are left out.
 * @throws Error when modules need each other in a circle, or two have the same name
 */
export function startOrder(modules: readonly ModuleDefinition[]): ModuleDefinition[] {
  const byName = new Map(modules.map((module) => [module.name, module]));
  if (byName.size !== modules.length) throw new Error("two modules have the same name");
  const ordered: ModuleDefinition[] = [];
  const state = new Map<string, "open" | "done">();
  const visit = (module: ModuleDefinition, path: readonly string[]): void => {
    if (state.get(module.name) === "done") return;
    if (state.get(module.name) === "open") {
      throw new Error(`modules need each other in a circle: ${[...path, module.name].join(" -> ")}`);
    }
    state.set(module.name, "open");
    for (const need of module.needs) {
      const peer = byName.get(need.module);
      if (peer !== undefined) visit(peer, [...path, module.name]);
    }
    state.set(module.name, "done");
    ordered.push(module);
  };
  for (const module of modules) visit(module, []);
  return ordered;
}

/** Returns the database roles that a process with these modules has to become, in the order of their names. */
export function rolesOf(modules: readonly Pick<ModuleDefinition, "schema" | "worker">[]): readonly string[] {
  const roles = modules.flatMap(({ schema, worker }) => {
    if (schema === undefined) return [];
    return worker === false ? [`tidemark_${schema}`] : [`tidemark_${schema}`, `tidemark_${schema}_worker`];
  });
  return [...new Set(roles)].toSorted();
}

/**
 * Brings the shared schema and those of the modules up to date, in the order of the modules.
 * Returns `<schema>/<file>` of each applied migration. Several processes may do this simultaneously.
 */
export async function migrateModules(ownerUrl: string, modules: readonly ModuleDefinition[]): Promise<string[]> {
  return (await migrate(ownerUrl, [platformMigrations, ...migrationsOf(modules)])).applied;
}

/** Returns the migrations of the schemas that the modules own, each once. */
export function migrationsOf(modules: readonly ModuleDefinition[]): readonly MigrationSet[] {
  const sets = modules.flatMap(({ migrations }) => (migrations === undefined ? [] : [migrations]));
  return [...new Map(sets.map((set) => [set.schema, set])).values()];
}

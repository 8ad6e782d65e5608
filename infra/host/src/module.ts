import type { DescService } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Bus } from "@tidemark/bus";
import type { Blob } from "@tidemark/blob";
import type { ConfigGroup, ConfigOf } from "@tidemark/config";
import type { Db, DbOptions, MigrationSet } from "@tidemark/pg";
import type { Call, Client, Implementation } from "@tidemark/rpc";
import type { Log, Metrics } from "@tidemark/telemetry";

/** What a module is given when it starts. */
export type ModuleContext<Group extends ConfigGroup = ConfigGroup> = {
  readonly config: ConfigOf<Group>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The pool of the module's own role. @throws Error when the module declares no database. */
  db(): Db;
  /** How a thread of the module's own opens a pool like `db()`. @throws Error when the module declares no database. */
  connection(): Pick<DbOptions, "url" | "role" | "application">;
  /** The pool of the module's worker role: relay, sweeper, compactor. */
  workerDb(): Db;
  readonly bus: Bus;
  /** The object store. */
  blob(): Promise<Blob>;
  /** A peer's service, in this process or over the network. Only services of modules named in `needs`. */
  client<S extends GenServiceMethods>(service: GenService<S>): Client<S>;
  /** Whether `client` of a service calls into this process: such calls cost next to nothing. */
  isLocal(service: DescService): boolean;
  /** True when every module named in `needs` says that it is ready, wherever it runs. */
  peersReady(): Promise<boolean>;
  /** A call that the module makes for itself, with the default deadline. */
  ownCall(): Call;
  now(): Date;
};

/** A module that runs. */
export type RunningModule = {
  /** The RPC services it answers. */
  implementations: readonly Implementation[];
  /** Asked by `/readyz`; false or a rejection means: send no requests here. */
  ready(): Promise<boolean>;
  /** Told to end: takes no new work, finishes what it has begun. Peers still answer. */
  drain?(): Promise<void>;
  /** Lets go of everything of its own. Pools and the bus are closed by the host. */
  stop?(): Promise<void>;
};

/** A part of the product that can be a process of its own or share one with others. */
export type ModuleDefinition<Group extends ConfigGroup = ConfigGroup> = {
  /** `runs`, `ingest-read`: names the process, the address setting and the metrics. */
  readonly name: string;
  readonly config: Group;
  /** The service's database role is `tidemark_<schema>`; left out: no database. */
  readonly schema?: string;
  readonly migrations?: MigrationSet;
  /** What its SQL names of other services' schemas: versioned views and functions (`runs.run_refs_v1`); left out: nothing. */
  readonly reads?: readonly string[];
  /** The generated services that it answers. */
  readonly provides: readonly DescService[];
  /** Modules whose services it calls. They start first and stop last. */
  readonly needs: readonly ModuleNeed[];
  start(context: ModuleContext<Group>): Promise<RunningModule>;
};

/** A dependency on another module's service. */
export type ModuleNeed = { readonly module: string; readonly service: DescService };

/** Keeps the setting types of a definition while the host treats all modules alike. */
export function defineModule<Group extends ConfigGroup>(definition: ModuleDefinition<Group>): ModuleDefinition {
  return definition;
}

import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Db } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/plan-limits";
import type { ExportService } from "@tidemark/proto/imports/v1/export";
import type { ImportsService } from "@tidemark/proto/imports/v1/imports";
import type { Call, Handlers } from "@tidemark/rpc";
import type { ExportClients } from "./export/clients.ts";
import type { Readers } from "./reading/readers.ts";

/** What the handlers of imports use. */
export type ImportsDeps = {
  readonly db: Db;
  /** Has messages sent that a transaction has left. */
  readonly wakeRelay: () => void;
  /** Of the quota of storage, for what is staged. */
  readonly gate: PlanGate;
  readonly readers: Readers;
};

/** The handlers of imports by RPC. */
export type ImportsHandlers = Handlers<(typeof ImportsService)["method"] & GenServiceMethods>;

/** What the handlers of exports use. */
export type ExportDeps = {
  readonly db: Db;
  readonly clients: ExportClients;
  /** Starts a call for the caller of another one, with a time of its own. */
  readonly callFor: (call: Call) => Call;
  readonly now: () => Date;
};

/** The handlers of exports by RPC. */
export type ExportHandlers = Handlers<(typeof ExportService)["method"] & GenServiceMethods>;

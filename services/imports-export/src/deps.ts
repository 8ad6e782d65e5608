import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Db } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/requests";
import type { ExportService } from "@tidemark/proto/imports/v1/export";
import type { ImportsService } from "@tidemark/proto/imports/v1/imports";
import type { Call, Handlers } from "@tidemark/rpc";
import type { ExportClients } from "./export/reading.ts";
import type { Readers } from "./reading/readers.ts";

/** Dependencies of the import handlers. */
export type ImportsDeps = {
  readonly db: Db;
  /** Sends messages that a transaction has queued. */
  readonly wakeRelay: () => void;
  /** Enforces the storage quota for staged content. */
  readonly gate: PlanGate;
  readonly readers: Readers;
};

/** The handlers of imports by RPC. */
export type ImportsHandlers = Handlers<(typeof ImportsService)["method"] & GenServiceMethods>;

/** Dependencies of the export handlers. */
export type ExportDeps = {
  readonly db: Db;
  readonly clients: ExportClients;
  /** Starts a call for the caller of another call, with its own deadline. */
  readonly callFor: (call: Call) => Call;
  readonly now: () => Date;
};

/** The handlers of exports by RPC. */
export type ExportHandlers = Handlers<(typeof ExportService)["method"] & GenServiceMethods>;

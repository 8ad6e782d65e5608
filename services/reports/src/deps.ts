import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Db } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/requests";
import type { ReportsService } from "@tidemark/proto/reports/v1/reports";
import type { Handlers } from "@tidemark/rpc";

/** Dependencies of the handlers. */
export type ReportsDeps = {
  readonly db: Db;
  /** A new random UUID. */
  readonly newId: () => string;
  /** Unpredictable bytes, for tokens. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly now: () => Date;
  /** How long a share token is valid; 0: without end. */
  readonly shareTtlSeconds: number;
  /** Refuses bytes beyond the plan. */
  readonly storageGate: PlanGate;
};

/** The handlers of this service by RPC. */
export type ReportsHandlers = Handlers<(typeof ReportsService)["method"] & GenServiceMethods>;

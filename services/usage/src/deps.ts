import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Db } from "@tidemark/pg";
import type { Plans } from "@tidemark/limits";
import type { UsageService } from "@tidemark/proto/usage/v1/usage";
import type { Handlers } from "@tidemark/rpc";

/** Dependencies of the handlers. */
export type UsageDeps = {
  /** For rows of the organization of a call. */
  readonly db: Db;
  /** For buckets and reports of many organizations. */
  readonly workerDb: Db;
  readonly plans: Plans;
  /** Whether this installation enforces limits. */
  readonly enforced: boolean;
  readonly now: () => Date;
};

/** The handlers of this service by RPC. */
export type UsageHandlers = Handlers<(typeof UsageService)["method"] & GenServiceMethods>;

import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Db } from "@tidemark/pg";
import type { PlanGate, RunDirectory } from "@tidemark/requests";
import type { TracesService } from "@tidemark/proto/traces/v1/traces";
import type { Handlers } from "@tidemark/rpc";
import type { TraceStates } from "./state/trace-states.ts";

/** Dependencies of the handlers. */
export type TracesDeps = {
  readonly db: Db;
  /** Which runs exist, and in which projects. */
  readonly runs: RunDirectory;
  readonly states: TraceStates;
  /** Seconds for which a trace of several segments has to be quiet before it is compacted. */
  readonly quietSeconds: number;
  readonly now: () => Date;
  /** Refuses events beyond the plan. */
  readonly eventGate: PlanGate;
  /** Refuses bytes beyond the plan. */
  readonly storageGate: PlanGate;
};

/** The handlers of this service by RPC. */
export type TracesHandlers = Handlers<(typeof TracesService)["method"] & GenServiceMethods>;

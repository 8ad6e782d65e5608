import { create, toBinary } from "@bufbuild/protobuf";
import { StopEventSchema } from "@tidemark/proto/control/v1/control";
import type { RunState } from "@tidemark/run-state";

/** The message about runs whose stop was requested or answered. */
export function encodeStopEvent(
  orgId: string,
  runs: readonly { readonly id: string; readonly state: RunState }[],
): Uint8Array {
  const stops = runs.map(({ id, state }) => ({ runId: id, stopRequestId: state.stop.requestId ?? "" }));
  return toBinary(StopEventSchema, create(StopEventSchema, { orgId, runs: stops }));
}

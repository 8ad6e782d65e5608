import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Tx } from "@tidemark/pg";
import type { RunStopSchema } from "@tidemark/proto/control/v1/control";
import { applyRunEvent, type StopActor } from "@tidemark/run-state";
import { lockRuns } from "../store/lock-runs.ts";
import { encodeRunControl, stopRequestedSubject, writeStops } from "./commit-stops.ts";

/** What became of a run. */
export type RunStopInit = MessageInitShape<typeof RunStopSchema> & { readonly runId: string };

/** Asks runs to stop, in the transaction that it is given, with the message about it. Runs that are not there are left out. */
export async function askToStop(
  tx: Tx,
  orgId: string,
  wish: {
    readonly runIds: readonly string[];
    readonly reason: string | null;
    readonly actor: StopActor;
    readonly newId: () => string;
  },
): Promise<RunStopInit[]> {
  const { reason, actor, newId } = wish;
  const locked = await lockRuns(tx, orgId, wish.runIds);
  const stops = locked.map(({ id, state, at }) => ({
    id,
    ...applyRunEvent(state, { kind: "stop", requestId: newId(), reason, actor }, at),
  }));
  const changed = stops.filter((stop) => stop.changed);
  await writeStops(tx, orgId, stopRequestedSubject, changed);
  return stops.map(({ id, state, outcome }) => ({
    runId: id,
    alreadyRequested: outcome === "already_requested",
    alreadyTerminal: outcome === "already_terminal",
    runControl: encodeRunControl(state),
  }));
}

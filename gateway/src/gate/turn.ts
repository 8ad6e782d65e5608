import { AppError } from "@tidemark/errors";
import type { Turn } from "@tidemark/work";
import type { Route } from "../route.ts";
import type { RequestState, ServingContext } from "../serving/context.ts";

/** Writes and polls of training processes do not wait for the requests of people. */
function queueOf({ rate }: Pick<Route, "rate">): string {
  return rate === "ingest" || rate === "control_poll" ? "writes " : "reads ";
}

/**
 * Begins the turn of a request's organization, once. Returns undefined if that is now, or the promise to wait for. A body has arrived before, because a slow
 * client must not hold a turn; for the same reason bodies and answers that are streamed have none. Callers without an organization have none either. The
 * time that a request waits reduces the time left for its work.
 * @throws service_unavailable, deadline_exceeded
 */
export function takeTurn(state: RequestState, { turns }: Pick<ServingContext, "turns">): Promise<void> | undefined {
  const { identity, route } = state;
  if (identity === undefined || route.streamed !== undefined || state.turn !== undefined) return undefined;
  const begun = turns.begin(identity.orgId, queueOf(route), Date.now() + state.timeoutMs);
  if ("end" in begun) {
    state.turn = begun;
    return undefined;
  }
  state.withdraw = begun.withdraw;
  const sinceMs = performance.now();
  return begun.turn.then((turn: Turn) => {
    if (state.isClosed) {
      turn.end();
      throw new AppError("service_unavailable", "the client has left");
    }
    state.turn = turn;
    state.timeoutMs = Math.max(1, state.timeoutMs - (performance.now() - sinceMs));
  });
}

/** Ends what a request holds of its organization's turns when the client has left. */
export function closeTurn(state: RequestState): void {
  state.isClosed = true;
  state.withdraw?.();
  state.turn?.end();
}

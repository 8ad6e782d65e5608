import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "@tidemark/errors";
import type { Turn } from "@tidemark/work";
import { clientNetwork } from "../limits/embed-limits.ts";
import type { RequestState, ServingContext } from "../serving/context.ts";
import type { Route } from "../route.ts";
import { COUNTED_BYTES_MIN, type BodyAccount } from "./body-memory.ts";

/** Returns the account of a request, and opens it where its body did not need one. It closes with the answer. */
export function accountOf(
  state: RequestState,
  request: FastifyRequest,
  { raw }: FastifyReply,
  { bodies }: Pick<ServingContext, "bodies">,
): BodyAccount {
  if (state.account !== undefined) return state.account;
  const account = bodies.open(state.identity?.orgId ?? "", clientNetwork(request.ip));
  if (raw.closed) account.close();
  else raw.once("close", account.close);
  return (state.account = account);
}

/**
 * Charges bytes that a service sends for a request, before they arrive, or gives them back if `bytes` is negative. As with answers, a request whose work is
 * done is not refused.
 * @throws service_unavailable when too many would be held
 */
export function chargeArriving(
  bytes: number,
  state: RequestState,
  request: FastifyRequest,
  reply: FastifyReply,
  context: Pick<ServingContext, "bodies">,
): void {
  // Also where the length is not known (NaN).
  if (!(Math.abs(bytes) > COUNTED_BYTES_MIN)) return;
  const account = accountOf(state, request, reply, context);
  if (bytes < 0) account.giveBack(-bytes);
  else charge(account, bytes, state);
}

/**
 * Charges an answer of more than 64 KiB to its request until it is sent. A request whose work is done is never refused, because its client could not know that.
 * @throws service_unavailable when too many would be held
 */
export function chargeAnswer(
  answer: string | Buffer,
  state: RequestState,
  request: FastifyRequest,
  reply: FastifyReply,
  context: Pick<ServingContext, "bodies">,
): void {
  if (answer.length <= COUNTED_BYTES_MIN) return;
  charge(accountOf(state, request, reply, context), Buffer.byteLength(answer), state);
}

/** If finished work were answered with a refusal, the client could not know that it is done. */
function charge(account: BodyAccount, bytes: number, { route }: RequestState): void {
  if (route.idempotency === "none") account.take(bytes);
  else account.add(bytes);
}

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

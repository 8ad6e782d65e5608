import type { FastifyReply, FastifyRequest } from "fastify";
import { clientNetwork } from "../limits/embed-limits.ts";
import type { RequestState, ServingContext } from "../serving/context.ts";
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

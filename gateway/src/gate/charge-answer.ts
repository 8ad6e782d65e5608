import type { FastifyReply, FastifyRequest } from "fastify";
import { COUNTED_BYTES_MIN, type BodyAccount } from "./body-memory.ts";
import { clientNetwork } from "../limits/client-network.ts";
import type { RequestState, ServingContext } from "../serving/context.ts";

/** How slowly a client may take an answer that is held in memory. */
export type ReadPace = {
  /** Milliseconds that any answer may take. */
  readonly graceMs: number;
  /** What it must take on average beyond that. */
  readonly bytesPerSecond: number;
};

/** 16 MiB, the longest answers, in nine minutes: less than what the slowest networks give to phones. */
export const usualReadPace: ReadPace = { graceMs: 15_000, bytesPerSecond: 32 * 1024 };

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
 * Charges an answer of more than 64 KiB to its request until it is sent. One whose work is done is never refused, because the client could not know of it.
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
  const account = accountOf(state, request, reply, context);
  const bytes = Buffer.byteLength(answer);
  if (state.route.idempotency === "none") account.take(bytes);
  else account.add(bytes);
}

/** Requires that the client takes an answer of more than 64 KiB at the pace, or cuts the connection. */
export function requireReadPace(
  answer: string | Buffer,
  { raw }: FastifyReply,
  { readPace: { graceMs, bytesPerSecond } }: Pick<ServingContext, "readPace">,
): void {
  if (answer.length <= COUNTED_BYTES_MIN || raw.closed) return;
  const timer = setTimeout(() => raw.destroy(), graceMs + (answer.length / bytesPerSecond) * 1000).unref();
  raw.once("close", () => clearTimeout(timer));
}

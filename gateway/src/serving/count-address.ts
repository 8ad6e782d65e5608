import type { FastifyReply, FastifyRequest } from "fastify";
import type { ServingContext } from "./context.ts";

/** Counts a request against its client address. @throws rate_limit_exceeded, with the headers for its answer set */
export function countAddress(
  { limiter }: Pick<ServingContext, "limiter">,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const refused = limiter.countAddress(request.ip);
  if (refused?.refused === undefined) return;
  reply.headers(refused.headers);
  throw refused.refused;
}

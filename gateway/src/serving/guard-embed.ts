import type { FastifyReply, FastifyRequest } from "fastify";
import { createCall } from "@tidemark/rpc";
import { presentedBy } from "../auth/authenticator.ts";
import { unauthenticated } from "../auth/authorize.ts";
import type { OpenEmbed } from "../auth/embed-access.ts";
import type { Route } from "../route.ts";
import type { ServingContext } from "./context.ts";

/** Keeps answers about embed sessions out of caches, and their addresses out of those of others (contract of embed sessions). */
const embedHeaders = {
  "cache-control": "private, no-store",
  pragma: "no-cache",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Sets the headers of all answers of a route of embed sessions, refusals included. */
export function beginEmbedAnswer(route: NonNullable<Route["embed"]>, reply: FastifyReply): void {
  reply.headers(embedHeaders);
  if (route === "policy" || route === "page") return;
  const vary = reply.getHeader("vary");
  reply.header("vary", typeof vary === "string" ? `${vary}, Authorization` : "Authorization");
}

/**
 * Finds the session of a request by the embed token that it presents, in this order: the limits of the address and of everybody, the token (401), the key that made
 * it (403), the limit of the session.
 * @throws unauthenticated, forbidden, not_found for an id that is not a UUID, rate_limit_exceeded, service_unavailable
 */
export async function openEmbed(
  route: "current" | "data",
  { embeds, embedLimits, deadlineMs }: Pick<ServingContext, "embeds" | "embedLimits" | "deadlineMs">,
  request: FastifyRequest,
): Promise<OpenEmbed> {
  embedLimits.countToken(request.ip);
  const { authorization } = request.headers;
  const presented = presentedBy({ authorization }, false);
  if (presented.kind !== "bearer") throw unauthenticated("missing embed token");
  const { session_id: sessionId = "" } = request.params as Readonly<Record<string, string>>;
  const call = createCall({ requestId: request.id, timeoutMs: deadlineMs });
  const open = await embeds.open(sessionId, presented.token, call);
  embedLimits.forgiveToken(request.ip);
  embedLimits.countSession(route, open.session.id);
  return open;
}

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import { createCall } from "@tidemark/rpc";
import { presentedBy } from "../auth/authenticator.ts";
import { unauthenticated } from "../auth/callers.ts";
import type { OpenEmbed } from "../auth/embed-access.ts";
import { requireSameRows, type RenewRights } from "../auth/rights.ts";
import { sessionCookie } from "../http/headers.ts";
import type { Route } from "../route.ts";
import type { ServingContext } from "./context.ts";

/** Keeps answers about embed sessions out of caches, and their addresses out of other sites' requests (contract of embed sessions). */
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

/** Milliseconds for which a session that was looked up is believed to be the same. */
const BELIEVED_MS = 1000;

/** An embed session whose token was presented, the key that made it, and a function that checks both again. */
export type PresentedEmbed = {
  readonly identity: Identity;
  readonly embedSession: EmbedSession;
  readonly renew: RenewRights;
};

/**
 * Finds the session of a request by the embed token that it presents, in this order: the limits of the address and of all clients, the token (401), the key
 * that made it (403), the limit of the session.
 * @throws unauthenticated, forbidden, not_found for an id that is not a UUID, rate_limit_exceeded, service_unavailable
 */
export async function openEmbed(
  route: "current" | "data",
  { embeds, embedLimits, deadlineMs }: Pick<ServingContext, "embeds" | "embedLimits" | "deadlineMs">,
  request: FastifyRequest,
): Promise<PresentedEmbed> {
  embedLimits.countToken(request.ip);
  const { authorization } = request.headers;
  const presented = presentedBy({ authorization }, sessionCookie);
  if (presented.kind !== "bearer") throw unauthenticated("missing embed token");
  const { session_id: sessionId = "" } = request.params as Readonly<Record<string, string>>;
  let openedMs = 0;
  const open = async (): Promise<OpenEmbed> => {
    openedMs = performance.now();
    return embeds.open(sessionId, presented.token, createCall({ requestId: request.id, timeoutMs: deadlineMs }));
  };
  const { session, identity } = await open();
  embedLimits.forgiveToken(request.ip);
  embedLimits.countSession(route, session.id);
  return {
    identity,
    embedSession: session,
    renew: () => {
      if (performance.now() - openedMs < BELIEVED_MS) return identity;
      return open().then(({ identity: now }) => requireSameRows(now, identity));
    },
  };
}

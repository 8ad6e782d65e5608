import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";
import type { FastifyReply, FastifyRequest } from "fastify";
import { checkKind, checkRights, unauthenticated } from "../auth/authorize.ts";
import { bootstrapTokenOf, presentedBy, type Presented } from "../auth/presented.ts";
import type { Route } from "../route.ts";
import { checkOrigin } from "./check-origin.ts";
import type { ServingContext } from "./context.ts";
import { countAddress } from "./count-address.ts";

/**
 * Finds out who asks and whether they may, in this order: authentication, `Origin` of sessions,
 * scope or role. Answers at once where memory knows the credential.
 * @throws unauthenticated, forbidden, rate_limit_exceeded, service_unavailable
 */
export function identify(
  route: Route,
  context: ServingContext,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): Identity | undefined | Promise<Identity> {
  const { callers } = route;
  if (callers.kind === "operator") return context.checkOperator(bootstrapTokenOf(request.headers));
  const presented = presentedBy(request.headers);
  if (callers.kind === "anyone") {
    if (route.rate !== "none") countAddress(context, request, reply);
    if (route.originRequired === true || presented.kind === "cookie") checkOrigin(route, context, request, baseUrl);
    return undefined;
  }
  const operatorToken = callers.operator === true ? bootstrapTokenOf(request.headers) : undefined;
  if (operatorToken !== undefined) return context.checkOperator(operatorToken);

  const allow = (identity: Identity): Identity => {
    checkKind(callers, identity.kind);
    if (identity.kind === CallerKind.SESSION) checkOrigin(route, context, request, baseUrl);
    checkRights(callers, identity);
    return identity;
  };
  const credential = readCredential(context, presented, callers.operator === true);
  const known = context.authenticator.known(credential);
  if (known !== undefined) return allow(known);
  countAddress(context, request, reply);
  return context.authenticator
    .lookUp(credential)
    .finally(() => context.limiter.forgiveAddress(request.ip))
    .then(allow);
}

function readCredential(
  { authenticator }: ServingContext,
  presented: Presented,
  operatorWelcome: boolean,
): ReturnType<ServingContext["authenticator"]["read"]> {
  switch (presented.kind) {
    case "bearer":
      return authenticator.read("api_key", presented.token);
    case "cookie":
      return authenticator.read("session", presented.token);
    case "unknown_scheme":
      throw unauthenticated("the authorization scheme must be Bearer");
    case "none":
      throw unauthenticated(operatorWelcome ? "invalid bootstrap token" : "missing bearer token");
  }
}

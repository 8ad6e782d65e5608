import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { isAppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import { bootstrapTokenOf, presentedBy, type Presented } from "../auth/authenticator.ts";
import { checkKind, checkRights, unauthenticated } from "../auth/callers.ts";
import { baseUrlOf, checkOrigin, isFromThisMachine } from "../http/origin.ts";
import { isRefusal, requireSameRows, type RenewRights } from "../auth/rights.ts";
import { cookieName, headerNames, readIdempotencyKey, sessionCookie } from "../http/headers.ts";
import type { Admission } from "../limits/limiter.ts";
import type { Route } from "../route.ts";
import { accountOf, closeTurn } from "../gate/claims.ts";
import { beginAnswer } from "./answer.ts";
import { countAddress } from "./unmatched.ts";
import type { RequestState, ServingContext } from "./context.ts";
import { checkContentType, mayBeLarge, requireMediaType } from "./body.ts";
import { beginEmbedAnswer, openEmbed } from "./guard-embed.ts";

/**
 * Decides about a request before its body is read, in an order that clients may rely on: credentials
 * (401), origin and rights (403), the organization's limits (429), then the headers (400). It does not
 * wait where memory knows the credential, tokens are held, and few arrive together.
 */
export function createGuard(route: Route, context: ServingContext): onRequestHookHandler {
  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    baseUrl: string,
    identified: Identified,
  ): void | Promise<void> => {
    const { identity } = identified;
    if (route.embed === "create" && identity !== undefined) context.embedLimits.countCreate(identity.credentialId);
    const admission = identity === undefined ? undefined : context.limiter.admit(identity, route);
    if (admission instanceof Promise) {
      return admission.then((later) => admitByLimits(request, reply, baseUrl, identified, later));
    }
    return admitByLimits(request, reply, baseUrl, identified, admission);
  };

  const admitByLimits = (
    request: FastifyRequest,
    reply: FastifyReply,
    baseUrl: string,
    { identity, refusal, embedSession, renew }: Identified,
    admission: Admission | undefined,
  ): void => {
    if (admission !== undefined) {
      reply.headers(admission.headers);
      request.counted = admission.counted;
      if (admission.refused !== undefined) throw admission.refused;
    }
    const idempotencyKey = readIdempotencyKey(
      request.headers[headerNames.idempotencyKey],
      route.idempotency,
      route.idempotencyKeyMax,
    );
    if (route.protocol !== undefined) requireMediaType(route.protocol, request);
    else {
      if (route.body !== undefined) checkContentType(request);
      // Checked above. The framework would refuse malformed ones even where no body is read.
      request.raw.headers["content-type"] = undefined;
    }
    const timeoutMs = Math.max(1, context.deadlineMs - reply.elapsedTime);
    const state: RequestState = {
      route,
      identity,
      renew,
      embedSession,
      refusal,
      idempotencyKey,
      baseUrl,
      timeoutMs,
      account: undefined,
      turn: undefined,
      withdraw: undefined,
      isClosed: false,
    };
    if (mayBeLarge(route, request)) accountOf(state, request, reply, context);
    reply.raw.once("close", () => closeTurn(state));
    request.state = state;
  };

  /** A failed authentication counts against the address; past its limit the answer is 429. */
  const refused = (error: unknown, request: FastifyRequest, reply: FastifyReply): Error => {
    try {
      if (isAppError(error) && error.reason === "unauthenticated") countAddress(context, request, reply);
      return error as Error;
    } catch (limit) {
      return limit as Error;
    }
  };

  /** Continues with the awaited decision, or ends with its refusal. */
  const whenDecided = async <Decided>(
    waiting: Promise<Decided>,
    next: (decided: Decided) => void,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error: Error) => void,
  ): Promise<void> => {
    let decided: Decided;
    try {
      decided = await waiting;
    } catch (error) {
      done(refused(error, request, reply));
      return;
    }
    next(decided);
  };

  const goOn = (
    request: FastifyRequest,
    reply: FastifyReply,
    baseUrl: string,
    identified: Identified,
    done: (error?: Error) => void,
  ): void => {
    // Its client has left while it waited.
    if (request.raw.socket.destroyed) return;
    let admitted: void | Promise<void>;
    try {
      admitted = admit(request, reply, baseUrl, identified);
    } catch (error) {
      done(refused(error, request, reply));
      return;
    }
    if (admitted instanceof Promise) void whenDecided(admitted, () => done(), request, reply, done);
    else done();
  };

  return (request, reply, done) => {
    if (!hasWholePath(request)) {
      reply.callNotFound();
      return;
    }
    const baseUrl = baseUrlOf(context.publicUrl, request);
    try {
      beginAnswer(request, reply, context, baseUrl);
      if (route.embed !== undefined) beginEmbedAnswer(route.embed, reply);
      const identified = identifyOrNobody(route, context, request, reply, baseUrl);
      const enter = (later: Identified): void =>
        context.admissions.enter(later.identity?.orgId ?? request.ip, () => goOn(request, reply, baseUrl, later, done));
      if (identified instanceof Promise) void whenDecided(identified, enter, request, reply, done);
      else enter(identified);
    } catch (error) {
      done(refused(error, request, reply));
    }
  };
}

/** The router matches an empty part of a path (`/runs/`) as a parameter, and no name holds NUL. */
function hasWholePath(request: FastifyRequest): boolean {
  const params = request.params as Readonly<Record<string, string>>;
  for (const name in params) if (params[name] === "" || params[name]?.includes("\0") === true) return false;
  return true;
}

/** The caller, or on routes that are open to anyone, why it is not known. */
type Identified = {
  readonly identity: Identity | undefined;
  /** Undefined where no rights can end: for the operator's token, and for callers without an identity. */
  readonly renew?: RenewRights;
  readonly embedSession?: EmbedSession;
  readonly refusal?: Error;
};

/** As `identify`, but on routes that are open to anyone a refusal becomes a caller without an identity, who counts against the address. */
function identifyOrNobody(
  route: Route,
  context: ServingContext,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): Identified | Promise<Identified> {
  const { callers } = route;
  if (callers.kind === "embed") {
    const asked = route.embed === "data" ? "data" : "current";
    return openEmbed(asked, context, request);
  }
  const isOpen = callers.kind === "credentials" && callers.orAnyone === true;
  const withoutIdentity = (error: unknown): Identified => {
    if (!isOpen || !isRefusal(error)) throw error;
    countAddress(context, request, reply);
    return { identity: undefined, refusal: error };
  };
  try {
    const identified = identify(route, callers, context, request, reply, baseUrl);
    return identified instanceof Promise ? identified.catch(withoutIdentity) : identified;
  } catch (error) {
    return withoutIdentity(error);
  }
}

/**
 * Identifies the caller and checks its rights, in this order: authentication, `Origin` of sessions,
 * scope or role. Returns immediately where memory knows the credential.
 * @throws unauthenticated, forbidden, rate_limit_exceeded, service_unavailable
 */
function identify(
  route: Route,
  callers: Exclude<Route["callers"], { kind: "embed" }>,
  context: ServingContext,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): Identified | Promise<Identified> {
  if (callers.kind === "operator") return { identity: context.checkOperator(bootstrapTokenOf(request.headers)) };
  const takesBasic = route.dialect?.takesBasic === true;
  const presented = presentedBy(request.headers, cookieName(sessionCookie, baseUrl), takesBasic);
  if (callers.kind === "anyone") {
    if (route.embed === "policy") context.embedLimits.countPolicy(request.ip);
    if (route.embed === "page") context.embedLimits.countPage(request.ip);
    if (route.rate !== "none") countAddress(context, request, reply);
    if (route.loopbackOnly === true && !isFromThisMachine(request.raw))
      throw unauthenticated("this way of signing in is not enabled");
    // Browsers send an Origin with every POST, so a request without one is not from another site.
    const isSent = route.originRequired === "where sent" && request.headers.origin !== undefined;
    if (isSent || route.originRequired === true || presented.kind === "cookie")
      checkOrigin(route, context, request, baseUrl);
    return unknownCaller;
  }
  const operatorToken = callers.operator === true ? bootstrapTokenOf(request.headers) : undefined;
  if (operatorToken !== undefined) return { identity: context.checkOperator(operatorToken) };

  const credential = readCredential(context, presented, callers.operator === true, takesBasic);
  const bearer = presented.kind === "cookie" ? "session" : "api_key";
  const allow = (identity: Identity): Identity => {
    checkKind(callers, identity, bearer);
    if (bearer === "session") checkOrigin(route, context, request, baseUrl);
    checkRights(callers, identity);
    return identity;
  };
  const { authenticator, limiter } = context;
  const withRenewal = (identity: Identity): Identified => ({
    identity,
    renew: () => {
      const again = (now: Identity): Identity => requireSameRows(allow(now), identity);
      const known = authenticator.known(credential, callers.fromDeleted);
      return known === undefined ? authenticator.lookUp(credential, callers.fromDeleted).then(again) : again(known);
    },
  });
  const known = authenticator.known(credential, callers.fromDeleted);
  if (known !== undefined) return withRenewal(allow(known));
  countAddress(context, request, reply);
  return authenticator
    .lookUp(credential, callers.fromDeleted)
    .finally(() => limiter.refundAddress(request.ip))
    .then((found) => withRenewal(allow(found)));
}

const unknownCaller: Identified = { identity: undefined };

function readCredential(
  { authenticator }: ServingContext,
  presented: Presented,
  operatorWelcome: boolean,
  takesBasic: boolean,
): ReturnType<ServingContext["authenticator"]["read"]> {
  switch (presented.kind) {
    case "bearer":
      return authenticator.read("api_key", presented.token);
    case "cookie":
      return authenticator.read("session", presented.token);
    case "unknown_scheme":
      throw unauthenticated(
        `the authorization scheme must be Bearer${takesBasic ? ", or Basic with the API key as the password" : ""}`,
      );
    case "none":
      throw unauthenticated(operatorWelcome ? "invalid bootstrap token" : "missing bearer token");
  }
}

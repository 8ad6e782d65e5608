import { badRequest, isAppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { headerNames } from "../header-names.ts";
import { COUNTED_BYTES_MIN } from "../http/body-memory.ts";
import { baseUrlOf } from "../http/base-url.ts";
import { readIdempotencyKey } from "../http/idempotency-key.ts";
import type { Route } from "../route.ts";
import { beginAnswer } from "./begin-answer.ts";
import type { ServingContext } from "./context.ts";
import { countAddress } from "./count-address.ts";
import { identify } from "./identify.ts";

/**
 * Decides on a request before its body is read, in the order that clients may rely on: credentials
 * (401), origin and rights (403), the organization's rate (429), then the headers (400). Does not
 * wait where memory knows the credential.
 */
export function createGuard(route: Route, context: ServingContext): onRequestHookHandler {
  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    baseUrl: string,
    identity: Identity | undefined,
  ): void => {
    const admission = identity === undefined ? undefined : context.limiter.admit(identity, route.rate);
    if (admission !== undefined) {
      reply.headers(admission.headers);
      if (admission.refused !== undefined) throw admission.refused;
    }
    const idempotencyKey = readIdempotencyKey(request.headers[headerNames.idempotencyKey], route.idempotency);
    if (route.body !== undefined) checkContentType(request);
    // It has been judged; the framework would refuse malformed ones even where no body is read.
    request.raw.headers["content-type"] = undefined;
    const timeoutMs = Math.max(1, context.deadlineMs - reply.elapsedTime);
    const bodyAccount = mayBeLarge(route, request) ? context.bodies.open() : undefined;
    if (bodyAccount !== undefined) reply.raw.once("close", bodyAccount.close);
    request.state = { route, identity, idempotencyKey, baseUrl, timeoutMs, bodyAccount };
  };

  /** A failed authentication counts against the address; past its limit the answer is 429. */
  const refusal = (error: unknown, request: FastifyRequest, reply: FastifyReply): Error => {
    try {
      if (isAppError(error) && error.reason === "unauthenticated") countAddress(context, request, reply);
      return error as Error;
    } catch (limit) {
      return limit as Error;
    }
  };

  const admitLater = async (
    identity: Promise<Identity>,
    request: FastifyRequest,
    reply: FastifyReply,
    baseUrl: string,
    done: (error?: Error) => void,
  ): Promise<void> => {
    let refused: Error | undefined;
    try {
      admit(request, reply, baseUrl, await identity);
    } catch (error) {
      refused = refusal(error, request, reply);
    }
    done(refused);
  };

  return (request, reply, done) => {
    if (!hasWholePath(request)) {
      reply.callNotFound();
      return;
    }
    const baseUrl = baseUrlOf(context.publicUrl, request);
    try {
      beginAnswer(request, reply, context, baseUrl);
      const identity = identify(route, context, request, reply, baseUrl);
      if (identity instanceof Promise) {
        void admitLater(identity, request, reply, baseUrl, done);
        return;
      }
      admit(request, reply, baseUrl, identity);
    } catch (error) {
      done(refusal(error, request, reply));
      return;
    }
    done();
  };
}

/** The router takes an empty part of a path (`/runs/`) for a parameter; and NUL is part of no name. */
function hasWholePath(request: FastifyRequest): boolean {
  const params = request.params as Readonly<Record<string, string>>;
  for (const name in params) if (params[name] === "" || params[name]?.includes("\0") === true) return false;
  return true;
}

/** Whether a body comes that may be large enough to be counted: one that is compressed or of unknown length may. */
function mayBeLarge(route: Route, { headers }: FastifyRequest): boolean {
  if (route.body === undefined) return false;
  return headers["content-encoding"] !== undefined || !(Number(headers["content-length"]) < COUNTED_BYTES_MIN);
}

/** A body must say that it is JSON; where none is sent, nothing has to be said. */
function checkContentType({ headers }: FastifyRequest): void {
  const empty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  if (!empty && !(headers["content-type"] ?? "").toLowerCase().includes("application/json")) {
    throw badRequest("the content type must be application/json");
  }
}

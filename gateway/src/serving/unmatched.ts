import { AppError, notFound } from "@tidemark/errors";
import type { FastifyReply, FastifyRequest } from "fastify";
import { baseUrlOf } from "../http/base-url.ts";
import { preflightHeaders } from "../http/cors.ts";
import type { PathMethods } from "../http/path-methods.ts";
import type { ServingContext } from "./context.ts";
import { beginAnswer } from "./begin-answer.ts";
import { sendError } from "./send-error.ts";

/**
 * Answers requests that no route took, without asking for credentials: 404 for an unknown path, 405
 * with `Allow` for a known one; a preflight request from an allowed origin gets 204.
 */
export function createUnmatchedHandler(methodsOf: PathMethods, context: ServingContext) {
  const answer = (request: FastifyRequest, reply: FastifyReply): void => {
    const baseUrl = baseUrlOf(context.publicUrl, request);
    beginAnswer(request, reply, context, baseUrl);
    const methods = methodsOf(request.url.split("?", 1)[0] ?? "");
    if (methods.length === 0) throw notFound("route");
    const { origin } = request.headers;
    if (request.method === "OPTIONS" && origin !== undefined && context.mayCome(origin, baseUrl)) {
      reply.code(204).headers(preflightHeaders(origin, methods)).send();
      return;
    }
    reply.header("allow", methods.join(", "));
    // Clients that probe for a route look for the words "method not allowed".
    throw new AppError("method_not_allowed", `method not allowed: it must be ${methods.join(" or ")}`);
  };

  return (request: FastifyRequest, reply: FastifyReply): void => {
    measure(request, reply, context);
    try {
      answer(request, reply);
    } catch (error) {
      sendError(error, request, reply, context.log);
    }
  };
}

/** Hooks of routes do the same; here there is no route. */
function measure({ method }: FastifyRequest, { raw }: FastifyReply, { metrics }: ServingContext): void {
  const startedMs = performance.now();
  raw.once("finish", () =>
    metrics.httpRequest({
      method,
      route: "unmatched",
      status: raw.statusCode,
      seconds: (performance.now() - startedMs) / 1000,
    }),
  );
}

import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, notFound } from "@tidemark/errors";
import { baseUrlOf, preflightHeaders } from "../http/origin.ts";
import type { Route } from "../route.ts";
import type { Found } from "../dashboard/dashboard.ts";
import { PAGE_TYPE } from "../http/page.ts";
import { beginAnswer, sendError, type ErrorShape } from "./answer.ts";
import type { ServingContext } from "./context.ts";

/**
 * Answers requests without a route, without asking for credentials: with the dashboard to browsers that open its addresses, 404 for another
 * unknown path, which counts against the address, 405 with `Allow` for a known one, 204 for a preflight request from an allowed origin.
 */
export function createUnmatchedHandler(methodsOf: PathMethods, context: ServingContext) {
  const answer = (request: FastifyRequest, reply: FastifyReply, found: Found | undefined): void => {
    const baseUrl = baseUrlOf(context.publicUrl, request);
    beginAnswer(request, reply, context, baseUrl);
    if (found !== undefined) {
      countAddress(context, request, reply);
      found.send(request, reply);
      return;
    }
    const methods = methodsOf(request.url.split("?", 1)[0] ?? "");
    if (methods.length === 0) {
      countAddress(context, request, reply);
      throw notFound("route");
    }
    const { origin } = request.headers;
    if (request.method === "OPTIONS" && origin !== undefined && context.isAllowedOrigin(origin, baseUrl)) {
      reply.code(204).headers(preflightHeaders(origin, methods)).send();
      return;
    }
    reply.header("allow", methods.join(", "));
    // Clients that probe for a route look for the words "method not allowed".
    throw new AppError("method_not_allowed", `method not allowed: it must be ${methods.join(" or ")}`);
  };

  return (request: FastifyRequest, reply: FastifyReply): void => {
    const found = context.dashboard?.find(request);
    measure(request, reply, context, found?.route ?? "unmatched");
    try {
      answer(request, reply, found);
    } catch (error) {
      const dialect = context.dialectOf(request.url);
      const shape = found?.route === "dashboard page" ? PAGE : dialect && { dialect };
      sendError(error, request, reply, context.log, shape);
    }
  };
}

/** Errors of pages are pages. */
const PAGE: ErrorShape = { schemas: { response: {}, responseType: PAGE_TYPE } };

/** Measures as the hooks of routes do; without a route there are none. */
function measure({ method }: FastifyRequest, { raw }: FastifyReply, { metrics }: ServingContext, route: string): void {
  const startedMs = performance.now();
  raw.once("finish", () =>
    metrics.httpRequest({
      method,
      route,
      status: raw.statusCode,
      seconds: (performance.now() - startedMs) / 1000,
    }),
  );
}

/** Returns the methods of a path; empty when no route has it. */
type PathMethods = (path: string) => readonly string[];

/** Finds the methods of a path, HEAD with GET: the methods of the template that spells out most of it, as `/openapi.json` says. */
export function createPathMethods(routes: readonly Pick<Route, "method" | "path">[]): PathMethods {
  const methodsByPath = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const methods = methodsByPath.get(path) ?? new Set();
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
    methodsByPath.set(path, methods);
  }
  const templates = [...methodsByPath].map(([path, methods]) => ({
    pattern: patternOf(path),
    parameters: path.split("{").length - 1,
    methods: [...methods],
  }));
  return (path) => {
    const matching = templates.filter(({ pattern }) => pattern.test(path));
    const fewest = Math.min(...matching.map(({ parameters }) => parameters));
    return [...new Set(matching.filter(({ parameters }) => parameters === fewest).flatMap(({ methods }) => methods))];
  };
}

function patternOf(template: string): RegExp {
  // As in the guard, no part of a path may be empty or hold NUL.
  const parts = template
    .split(/(\{\w+\*?\})/)
    .map((part, i) => (i % 2 === 0 ? RegExp.escape(part) : part.endsWith("*}") ? "(?:(?!%00).)+" : "(?:(?!%00)[^/])+"));
  return new RegExp(`^${parts.join("")}$`);
}

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

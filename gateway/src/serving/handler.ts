import { badRequest } from "@tidemark/errors";
import { createCall } from "@tidemark/rpc";
import { extractTrace, formatTraceparent, isTracing, withSpan } from "@tidemark/telemetry";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sessionTokenOf } from "../auth/presented.ts";
import { writeJson } from "../codecs/json.ts";
import { headerNames } from "../header-names.ts";
import { cookieSecure } from "../http/base-url.ts";
import { acceptsGzip, compress } from "../http/compress.ts";
import { readIfNoneMatch, weakTag } from "../http/entity-tag.ts";
import { parseQuery } from "../http/query-string.ts";
import type { Query, Route, RouteInput } from "../route.ts";
import type { ParsedBody } from "./body-parser.ts";
import type { RequestState, ServingContext } from "./context.ts";

type Body = RouteInput["body"];

/** How long an answer waits for this process to know of its change, in milliseconds; others hear of it on their own. */
const REFRESH_MS = 2000;

const nothing: Body = Object.freeze({});

/** Serves the requests of a route that the guard has let in: decode, one RPC, encode, headers. */
export function createHandler(route: Route, context: ServingContext) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer | FastifyReply> => {
    const state = request.state as RequestState;
    const input = inputOf(route, state, request);
    const answer = await traced(route, request, (traceparent) =>
      route.handle(
        input,
        context.clients,
        createCall({ requestId: request.id, identity: state.identity, traceparent, timeoutMs: state.timeoutMs }),
      ),
    );
    if (route.changesAccess === true) await atMost(REFRESH_MS, context.refreshAccess());
    if (answer.etag !== undefined && answer.etag !== "") {
      reply.headers({
        etag: weakTag(answer.etag),
        "cache-control": "private, no-cache",
        vary: varyOf(reply, "Accept-Encoding"),
      });
    }
    if (context.draining()) reply.header("connection", "close");
    if (answer.notModified === true) return reply.code(304).send();
    reply.header("content-type", "application/json; charset=utf-8");
    if (answer.headers !== undefined) reply.headers(answer.headers);
    if (answer.replayed === true) reply.header(headerNames.idempotencyReplayed, "true");
    const text = answer.bytes ?? writeJson(answer.body);
    const compressed = acceptsGzip(request.headers["accept-encoding"]) ? await compress(text) : undefined;
    if (compressed === undefined) return text;
    reply.headers({ "content-encoding": "gzip", vary: varyOf(reply, "Accept-Encoding") });
    return compressed;
  };
}

function inputOf(route: Route, state: RequestState, request: FastifyRequest): RouteInput {
  const body = request.body as ParsedBody;
  if (body instanceof Error) throw body;
  if (body === undefined && route.body === "required") throw badRequest("the body must be a JSON object");
  return {
    params: request.params as RouteInput["params"],
    query: parseQuery(request.query as string, route.queryNeverBlank) satisfies Query,
    body: body ?? nothing,
    identity: state.identity,
    idempotencyKey: state.idempotencyKey,
    baseUrl: state.baseUrl,
    // Few routes ask for these, and finding them out costs more than the rest of the input.
    get knownTags() {
      return readIfNoneMatch(request.headers["if-none-match"]);
    },
    get sessionToken() {
      return sessionTokenOf(request.headers.cookie);
    },
    get cookieSecure() {
      return cookieSecure(state.baseUrl);
    },
  };
}

/** Runs the work in a span of the route, as part of the caller's trace; without tracing the latter is just passed on. */
function traced<T>(
  { method, path }: Route,
  { headers }: FastifyRequest,
  work: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const parent = extractTrace(headers);
  if (!isTracing()) return work(parent === undefined ? undefined : formatTraceparent(parent));
  return withSpan(
    `${method} ${path}`,
    { "http.request.method": method, "http.route": path },
    (trace) => work(formatTraceparent(trace)),
    { parent, kind: "server" },
  );
}

/** Resolves with the work or when the time is over, whichever comes first. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** The Vary field with one name more. */
function varyOf(reply: FastifyReply, name: string): string {
  const vary = reply.getHeader("vary");
  if (typeof vary !== "string") return name;
  return vary.split(", ").includes(name) ? vary : `${vary}, ${name}`;
}

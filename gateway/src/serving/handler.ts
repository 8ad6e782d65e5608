import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { underDeadline } from "@tidemark/work";
import { badRequest, isAppError } from "@tidemark/errors";
import { createCall, type Call } from "@tidemark/rpc";
import { extractTrace, formatTraceparent, isTracing, withSpan } from "@tidemark/telemetry";
import { cookieOf } from "../auth/authenticator.ts";
import { dropRest } from "../gate/arrival.ts";
import { acceptsGzip, compress } from "../http/compress.ts";
import { readIfNoneMatch, weakTag } from "../http/range.ts";
import { cookieName, headerNames, loginCookie, sessionCookie } from "../http/headers.ts";
import { writeJson } from "../http/json.ts";
import { cookieSecure, isFromThisMachine } from "../http/origin.ts";
import { writePage } from "../http/page.ts";
import { foreignStarts, parseQuery, refuseStarts } from "../http/query.ts";
import { canonicalUuid } from "../api/fields/text.ts";
import type { HandlerContext, Query, Route, RouteInput, RouteReply } from "../route.ts";
import { accountOf, chargeAnswer, chargeArriving, takeTurn } from "../gate/claims.ts";
import { requireReadPace } from "../gate/read-pace.ts";
import { exportsOf } from "../spool/request-exports.ts";
import type { ParsedBody } from "./body.ts";
import type { RequestState, ServingContext } from "./context.ts";
import { renewRights, watchAnswer, watchArrival } from "./rights.ts";
import { sendEvents, sendExport, sendExportPart, sendStream } from "./send-stream.ts";
import { sendFile } from "./send-file.ts";

type Body = RouteInput["body"];
type Mutable<T, K extends keyof T> = Omit<T, K> & { -readonly [P in K]: T[P] };

/** Milliseconds that an answer waits until this process knows of its change; other processes learn of it by themselves. */
const REFRESH_MS = 2000;

const nothing: Body = Object.freeze({});
const noQuery: Query = Object.freeze({});

/** Serves the requests of a route that the guard has admitted: decode, one RPC, encode, headers. */
export function createHandler(route: Route, context: ServingContext) {
  const serve = async (
    input: Mutable<RouteInput, "body" | "identity">,
    state: RequestState,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string | Buffer | FastifyReply> => {
    const answer = await traced(route, request, (traceparent) => {
      const { timeoutMs } = state;
      const left = endsWithClient(route) ? abortOnDisconnect(reply.raw) : undefined;
      const newCall = (ms: number): Call =>
        createCall({
          requestId: request.id,
          identity: state.identity,
          traceparent,
          timeoutMs: ms,
          left,
          hold: (bytes) => chargeArriving(bytes, state, request, reply, context),
        });
      let unwatch = route.streamed === undefined ? undefined : watchArrival(state, request.raw, context);
      const call = newCall(timeoutMs);
      const transfer: HandlerContext = {
        request: request.raw,
        objects: context.objects,
        newCall: async () => {
          await renewRights(state);
          return newCall(context.deadlineMs);
        },
        actFor: async (caller, callers) => {
          state.renew = context.renewalOf(caller, callers);
          await renewRights(state);
          unwatch?.();
          unwatch = watchArrival(state, request.raw, context);
        },
        isSourceActive: (session) => context.embeds.isSourceActive(session),
        refundAddress: () => context.embedLimits.forgivePage(request.ip),
        countLink: (shareId) => context.embedLimits.countLink(shareId),
        embedParts: context.embedParts,
        // Only one route uses them.
        get exports() {
          return exportsOf(state, request, reply, context);
        },
        openStream: context.streams.open,
        account: state.account,
        reserveMemory: (bytes) => accountOf(state, request, reply, context).take(bytes),
      };
      const handle = () => route.handle(input, context.clients, call, transfer);
      // A body may take any time to arrive; each call has its own deadline then.
      const answering = route.streamed === undefined ? underDeadline(call.deadlineMs, handle, { left }) : handle();
      // It has been decoded. Bodies that live as long as their requests are copied by each garbage collection in between.
      input.body = nothing;
      if (route.streamed === undefined) return answering;
      return answering
        .finally(() => unwatch?.())
        .catch((error: unknown) => {
          dropRest(request.raw);
          throw error;
        });
    }).catch((error: unknown) => {
      throw isAppError(error) && error.reason === "unauthenticated" ? (state.refusal ?? error) : error;
    });
    recordHeartbeats(route, state.identity, input, answer, context);
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
    if (answer.redirect !== undefined)
      return reply
        .code(303)
        .headers({ ...answer.headers, location: answer.redirect })
        .send();
    const kept = answer.export ?? answer.exportPart;
    // Writing all of it may have taken long.
    if (kept !== undefined) await renewRights(state);
    if (answer.file !== undefined || answer.stream !== undefined || kept !== undefined) {
      state.turn?.end();
      watchAnswer(state, reply.raw, context, () => {
        kept?.drop();
        reply.raw.destroy();
      });
    }
    if (answer.file !== undefined) return sendFile(answer.file, request, reply, context);
    reply.header("content-type", "application/json; charset=utf-8");
    if (answer.headers !== undefined) reply.headers(answer.headers);
    if (kept !== undefined) reply.headers(kept.headers());
    const page = answer.page === undefined ? undefined : writePage(answer.page);
    if (page !== undefined) reply.headers(page.headers);
    if (answer.replayed === true) reply.header(headerNames.idempotencyReplayed, "true");
    if (answer.events !== undefined) {
      watchAnswer(state, reply.raw, context, () => reply.raw.end());
      return sendEvents(answer.events, reply);
    }
    const isCompressed = acceptsGzip(request.headers["accept-encoding"]);
    if (answer.stream !== undefined || kept !== undefined) reply.header("vary", varyOf(reply, "Accept-Encoding"));
    if (answer.stream !== undefined) return sendStream(answer.stream, isCompressed, request, reply, context);
    if (answer.export !== undefined) return sendExport(answer.export, isCompressed, request, reply, context);
    if (answer.exportPart !== undefined) return sendExportPart(answer.exportPart, request, reply, context);
    const text = page?.text ?? answer.bytes ?? writeJson(answer.body);
    chargeAnswer(text, state, request, reply, context);
    const compressed = isCompressed ? await compress(text) : undefined;
    requireReadPace(compressed ?? text, reply, context);
    if (compressed === undefined) return text;
    state.account?.giveBack(text.length - compressed.length);
    reply.headers({ "content-encoding": "gzip", vary: varyOf(reply, "Accept-Encoding") });
    return compressed;
  };

  const refused = foreignStarts(route);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer | FastifyReply> => {
    const state = request.state as RequestState;
    try {
      const input = inputOf(route, state, request);
      refuseStarts(refused, input.query);
      const waiting = takeTurn(state, context);
      if (waiting !== undefined) await waiting;
      // Its body may have taken long to arrive.
      if (route.body !== undefined) {
        const renewing = renewRights(state);
        if (renewing !== undefined) await renewing;
        input.identity = state.identity;
      }
      return await serve(input, state, request, reply);
    } finally {
      state.turn?.end();
    }
  };
}

/** Whether a request ends when its client leaves: reads do, but not polls, which take no time. */
function endsWithClient({ endsWithClient: own, method, rate }: Route): boolean {
  return own ?? (method === "GET" && rate !== "control_poll");
}

/** Returns a signal that aborts when the connection of a response ends before the response. */
function abortOnDisconnect(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) left.abort();
  });
  return left.signal;
}

/** Notes the runs that a request, which succeeded, shows to be alive. */
function recordHeartbeats(
  { isHeartbeat }: Route,
  identity: RequestState["identity"],
  { params }: RouteInput,
  { heartbeatRunIds }: RouteReply,
  { alive }: ServingContext,
): void {
  if (identity === undefined) return;
  const runId = isHeartbeat === true ? canonicalUuid(params["run_id"] ?? "") : undefined;
  if (runId !== undefined) alive(identity.orgId, runId);
  for (const id of heartbeatRunIds ?? []) alive(identity.orgId, id);
}

/** Takes the body out of the request, so that only the input holds it. */
function inputOf(route: Route, state: RequestState, request: FastifyRequest): Mutable<RouteInput, "body" | "identity"> {
  const body = request.body as ParsedBody;
  request.body = undefined;
  if (body instanceof Error) throw body;
  if (body === undefined && route.body === "required" && route.streamed === undefined)
    throw badRequest("the body must be a JSON object");
  const { dialect } = route;
  const text = request.query as string;
  return {
    params: request.params as RouteInput["params"],
    query: dialect === undefined ? (parseQuery(text, route.queryNeverBlank) satisfies Query) : noQuery,
    body: dialect !== undefined && text !== "" && route.method === "GET" ? dialect.readQuery(text) : (body ?? nothing),
    identity: state.identity,
    embedSession: state.embedSession,
    idempotencyKey: state.idempotencyKey,
    baseUrl: state.baseUrl,
    // Few routes use these, and reading them costs more than the rest of the input.
    get knownTags() {
      return readIfNoneMatch(request.headers["if-none-match"]);
    },
    get sessionToken() {
      return cookieOf(request.headers.cookie, cookieName(sessionCookie, state.baseUrl));
    },
    get loginSecret() {
      return cookieOf(request.headers.cookie, cookieName(loginCookie, state.baseUrl));
    },
    get isFromThisMachine() {
      return isFromThisMachine(request.raw);
    },
    get cookieSecure() {
      return cookieSecure(state.baseUrl);
    },
  };
}

/** Runs the work in a span of the route, as part of the caller's trace. Without tracing, the caller's trace is passed on. */
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

/** Resolves when the work is done or the time is over, whichever comes first. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Returns the value of the Vary header with one more name. */
function varyOf(reply: FastifyReply, name: string): string {
  const vary = reply.getHeader("vary");
  if (typeof vary !== "string") return name;
  return vary.split(", ").includes(name) ? vary : `${vary}, ${name}`;
}

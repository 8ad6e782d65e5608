import Fastify, { type FastifyInstance } from "fastify";
import type { Blob } from "@tidemark/blob";
import type { CredentialEntry } from "@tidemark/proto/control/v1/control";
import type { Log, Metrics } from "@tidemark/telemetry";
import type { Turns } from "@tidemark/work";
import type { Plans } from "@tidemark/limits";
import type { Access } from "./auth/directory.ts";
import { createAuthenticator, createOperatorCheck } from "./auth/authenticator.ts";
import { createRenewalOf, createRightsWatch } from "./auth/rights.ts";
import { createEmbedAccess } from "./auth/embed-access.ts";
import type { Clients } from "./clients.ts";
import { basePathOf, withoutBasePath } from "./http/base-path.ts";
import { headerNames, noSniffing, requestIdOf, strictTransport } from "./http/headers.ts";
import type { ChangeHub } from "./changes/change-hub.ts";
import { createDialectOf } from "./dialects/dialect-of.ts";
import { createEventStreams } from "./changes/event-streams.ts";
import { createDashboard } from "./dashboard/dashboard.ts";
import { embedPartsOf, type Bundle } from "./dashboard/read-bundle.ts";
import { createBodyMemory } from "./gate/body-memory.ts";
import { answerClientError } from "./gate/closing.ts";
import { boundConnections, boundPipelining, watchIdleConnections } from "./gate/connections.ts";
import { holdExpectations } from "./gate/arrival.ts";
import { createOriginRule } from "./http/origin.ts";
import { joinSmallChunks } from "./gate/chunks.ts";
import { createPathMethods, createUnmatchedHandler } from "./serving/unmatched.ts";
import { clientNetwork, createEmbedLimits } from "./limits/embed-limits.ts";
import { createHeldTokens, type Lease, type Leased } from "./limits/held-tokens.ts";
import { createLimiter } from "./limits/limiter.ts";
import type { RequestCounts } from "./limits/request-counts.ts";
import { buildOpenApi } from "./openapi/document.ts";
import type { Route } from "./route.ts";
import { cachedProbe, platformRoutes } from "./api/platform/routes.ts";
import { createBodyParser } from "./serving/body.ts";
import { createHandler } from "./serving/handler.ts";
import type { Admissions } from "./gate/admissions.ts";
import type { ReadPace } from "./gate/read-pace.ts";
import type { ServingContext } from "./serving/context.ts";
import { createGuard } from "./serving/guard.ts";
import { sendError } from "./serving/answer.ts";
import type { Spool } from "./spool/spool.ts";

/** The settings of a gateway. */
export type AppSettings = {
  /** The URL under which clients reach it; undefined: taken from each request. */
  readonly publicUrl: string | undefined;
  /** Origins of front ends besides its own and loopback ones. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[];
  readonly limits: boolean;
  readonly plans: Plans;
  /** Opens the operator's routes; undefined: they stay closed. */
  readonly bootstrapToken: string | undefined;
  /** `combined`, `control` or `data`. */
  readonly servicePlane: string;
  readonly version: string;
  /** Milliseconds that a request may take. */
  readonly deadlineMs: number;
  /** Milliseconds over which a client's pace of reading an answer is measured. */
  readonly stallMs: number;
  /** The slowest allowed pace at which a client reads an answer held in memory. */
  readonly readPace: ReadPace;
  /** Most bytes that the bodies of all requests may take together. */
  readonly bodyBytesHeldMax: number;
  /** Most connections of the public listener. */
  readonly connectionsMax: number;
};

/** What a gateway needs to run. */
export type AppOptions = {
  readonly settings: AppSettings;
  /** All routes of the product except the platform's. */
  readonly routes: readonly Route[];
  /** The routes of dialects. */
  readonly dialectRoutes: readonly Route[];
  readonly clients: Clients;
  /** The files of the dashboard; undefined: addresses of pages are unknown paths. */
  readonly bundle: Bundle | undefined;
  /** Exports while they are sent; closing the app closes it. */
  readonly spool: Spool;
  /** Bytes of artifacts. */
  readonly objects: Blob;
  readonly access: Access;
  readonly changes: ChangeHub;
  /** Called with every credential that was accepted. */
  readonly used: (entry: CredentialEntry) => void;
  /** Called with every run that wrote or polled successfully, and its organization. */
  readonly alive: (orgId: string, runId: string) => void;
  readonly projection: {
    readonly loaded: () => boolean;
    readonly degraded: () => boolean;
    readonly refresh: () => Promise<void>;
  };
  /** Takes tokens of a rate limit that all gateways share. */
  readonly leaseTokens: (lease: Lease) => Promise<Leased>;
  /** How many gateways are alive. */
  readonly gateways: () => number;
  readonly requestCounts: RequestCounts;
  /** Whether the services behind answer and their database takes writes. */
  readonly probe: () => Promise<boolean>;
  /** The turns of this process. */
  readonly turns: Turns;
  readonly admissions: Admissions;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Milliseconds: of the wall clock, and of a clock that never goes back. */
  readonly clocks: { readonly wallMs: () => number; readonly steadyMs: () => number };
};

/** Time limits of the public listener, in milliseconds, so that slow clients do not hold sockets. */
const timeouts = { request: 30_000, headers: 10_000, keepAlive: 75_000, silence: 60_000, connectionsCheck: 2000 };
const HEADER_BYTES_MAX = 16 * 1024;
/** 512 bytes of user text, each escaped as `%XX`, with room to spare. */
const PARAM_LENGTH_MAX = 2048;

/**
 * Builds the public HTTP server. It does not listen yet. Closing it lets requests in flight end, answers
 * requests that still arrive on open connections, and closes each connection after its answer.
 */
export function createApp(options: AppOptions): FastifyInstance {
  const { settings, spool, log, metrics } = options;
  let draining = false;
  const dialectOf = createDialectOf(options.dialectRoutes);
  const context: ServingContext = {
    dialectOf,
    clients: options.clients,
    objects: options.objects,
    spool,
    stallMs: settings.stallMs,
    authenticator: createAuthenticator({ access: options.access, used: options.used, nowMs: options.clocks.wallMs }),
    checkOperator: createOperatorCheck(settings.bootstrapToken),
    limiter: createLimiter({
      enabled: settings.limits,
      plans: settings.plans,
      tokens: createHeldTokens({
        lease: options.leaseTokens,
        gateways: options.gateways,
        nowMs: options.clocks.steadyMs,
      }),
      counts: options.requestCounts,
      gateways: options.gateways,
      clocks: options.clocks,
    }),
    requestCounts: options.requestCounts,
    embeds: createEmbedAccess({ clients: options.clients, access: options.access, nowMs: options.clocks.wallMs }),
    embedLimits: createEmbedLimits(options.clocks.steadyMs),
    bodies: createBodyMemory(settings.bodyBytesHeldMax),
    readPace: settings.readPace,
    turns: options.turns,
    admissions: options.admissions,
    streams: createEventStreams({
      hub: options.changes,
      connectionsMax: settings.connectionsMax,
    }),
    rights: createRightsWatch(),
    renewalOf: createRenewalOf({ access: options.access, nowMs: options.clocks.wallMs }),
    dashboard:
      options.bundle === undefined ? undefined : createDashboard(options.bundle, basePathOf(settings.publicUrl ?? "")),
    embedParts: embedPartsOf(options.bundle),
    isAllowedOrigin: createOriginRule(settings.allowedOrigins),
    refreshAccess: options.projection.refresh,
    alive: options.alive,
    publicUrl: settings.publicUrl,
    deadlineMs: settings.deadlineMs,
    log,
    metrics,
    draining: () => draining,
  };
  const routes: readonly Route[] = [
    ...options.routes,
    ...options.dialectRoutes,
    ...platformRoutesOf(options, () => draining),
  ];

  const shapeWithoutRoute = ({ url }: { readonly url: string }) => {
    const dialect = dialectOf(url);
    return dialect && { dialect };
  };
  const basePath = basePathOf(settings.publicUrl ?? "");
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    rewriteUrl: ({ url = "/" }) => withoutBasePath(url, basePath),
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionTimeout: timeouts.silence,
    return503OnClosing: false,
    trustProxy: settings.trustedProxies.length === 0 ? false : [...settings.trustedProxies],
    routerOptions: {
      maxParamLength: PARAM_LENGTH_MAX,
      // The handler reads it after the credentials; see `parseQuery`.
      querystringParser: (text) => text as unknown as Record<string, unknown>,
    },
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.connectionsCheck,
      // Node's own refusal would not have the shape of our errors; `beginAnswer` refuses instead.
      requireHostHeader: false,
    },
    clientErrorHandler: answerClientError,
    // Called before any route and its guard.
    frameworkErrors: (error, request, reply) => {
      reply.header(headerNames.requestId, request.id);
      sendError(error, request, reply, log, shapeWithoutRoute(request));
    },
  });
  app.decorateRequest("state", undefined);
  app.decorateRequest("counted", undefined);
  // For dialects; bodies that a route does not take are ignored.
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", createBodyParser(context));
  const unmatched = createUnmatchedHandler(createPathMethods(routes), context);
  app.setNotFoundHandler(unmatched);
  app.setErrorHandler((error, request, reply) => {
    // The framework judges content types only where no guard has removed them, that is, where no route matched.
    if (request.is404) unmatched(request, reply);
    else sendError(error, request, reply, log, shapeWithoutRoute(request));
  });
  const endSpareConnections = watchIdleConnections(app.server);
  app.addHook("preClose", (done) => {
    draining = true;
    context.streams.endAll();
    endSpareConnections();
    done();
  });
  app.addHook("onClose", (_, done) => {
    context.rights.close();
    spool.close();
    done();
  });
  holdExpectations(app.server);
  boundConnections(app.server, {
    connectionsMax: settings.connectionsMax,
    shared: ["127.0.0.0/8", "::1", ...settings.trustedProxies],
    networkOf: clientNetwork,
  });
  // Before the framework sees the request, so that no answer lacks it: errors, streamed files, answers without a route.
  const isSecure = settings.publicUrl?.startsWith("https://") === true;
  app.server.prependListener("request", (_, response) => {
    response.setHeader(...noSniffing);
    if (isSecure) response.setHeader(...strictTransport);
  });
  for (const route of routes) addRoute(app, route, context);
  boundPipelining(app.server);
  joinSmallChunks(app.server);
  return app;
}

function addRoute(app: FastifyInstance, route: Route, context: ServingContext): void {
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/\{\w+\*\}$/, "*"),
    onRequest: createGuard(route, context),
    handler: createHandler(route, context),
    errorHandler: (error, request, reply) => sendError(error, request, reply, context.log, route),
    onResponse: (request, reply, done) => {
      if (request.counted !== undefined) context.requestCounts.answered(request.counted, reply.statusCode);
      context.metrics.httpRequest({
        method: request.method,
        route: route.path,
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1000,
      });
      done();
    },
  });
}

function platformRoutesOf(options: AppOptions, draining: () => boolean): readonly Route[] {
  const { servicePlane, version } = options.settings;
  let document: string | undefined;
  const ready = cachedProbe(options.probe, options.clocks.steadyMs);
  const routes: readonly Route[] = platformRoutes({
    version,
    servicePlane,
    projectionLoaded: options.projection.loaded,
    refreshDegraded: options.projection.degraded,
    ready: async () => !draining() && (await ready()),
    openApi: () =>
      (document ??= JSON.stringify(buildOpenApi([...options.routes, ...routes], { version, servicePlane }))),
  });
  return routes;
}

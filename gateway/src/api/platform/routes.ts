import { AppError } from "@tidemark/errors";
import { raw, type Json } from "../../http/json.ts";
import type { Route, Schema } from "../../route.ts";

/** The state that the platform routes report. */
export type PlatformState = {
  readonly version: string;
  /** `combined`, `control` or `data`. */
  readonly servicePlane: string;
  readonly projectionLoaded: () => boolean;
  readonly refreshDegraded: () => boolean;
  /** True when requests would be served: the services answer and their database takes writes. */
  readonly ready: () => Promise<boolean>;
  /** The text of the interface description. */
  readonly openApi: () => string;
};

/** Returns liveness, readiness, the three public gauges and the interface description; none of them asks for credentials. */
export function platformRoutes(state: PlatformState): readonly Route[] {
  return [
    platformRoute("/health", "Liveness", status, () => ({ status: "ok" })),
    platformRoute("/healthz", "Liveness", status, () => ({ status: "ok" })),
    { ...platformRoute("/readyz", "Readiness", readiness, () => readyz(state)), statuses: [200, 503] },
    {
      ...platformRoute(
        "/metrics",
        "Gauges in the Prometheus text format",
        { type: "string" },
        () => raw(gauges(state)),
        {
          "content-type": GAUGES_TYPE,
        },
      ),
      schemas: { response: { type: "string" }, responseType: "text/plain" },
    },
    platformRoute("/openapi.json", "This description", { type: "object" }, () => raw(state.openApi())),
  ];
}

/** The media type of Prometheus' text format. */
const GAUGES_TYPE = "text/plain; version=0.0.4";

const status: Schema = { type: "object", required: ["status"], properties: { status: { const: "ok" } } };

const readiness: Schema = {
  type: "object",
  required: ["status", "control_projection_loaded", "control_refresh_degraded", "write_ready", "writer_lease"],
  properties: {
    status: { const: "ok" },
    control_projection_loaded: { type: "boolean" },
    control_refresh_degraded: { type: "boolean" },
    write_ready: { type: "boolean" },
    writer_lease: {
      type: "object",
      properties: { required: { type: "boolean" }, ready: { type: "boolean" }, code: { type: ["string", "null"] } },
    },
  },
};

/** There are no leases: every gateway takes every write, so `write_ready` follows the probe behind `ready`. */
async function readyz(state: PlatformState): Promise<Json> {
  if (!state.projectionLoaded() || !(await state.ready())) {
    throw new AppError("service_unavailable", "not ready", { retryAfterSeconds: 1 });
  }
  return {
    status: "ok",
    control_projection_loaded: true,
    control_refresh_degraded: state.refreshDegraded(),
    write_ready: true,
    writer_lease: { required: false, ready: true, code: null },
  };
}

function gauges({ servicePlane, projectionLoaded, refreshDegraded }: PlatformState): string {
  const plane = `service_plane="${servicePlane}"`;
  const gauge = (name: string, help: string, labels: string, value: boolean): string =>
    `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name}{${labels}} ${value ? 1 : 0}\n`;
  return [
    gauge(
      "svc_rust_build_info",
      "Always 1; says which service and plane this is.",
      `service="tidemark",${plane}`,
      true,
    ),
    gauge("svc_control_projection_loaded", "1 once the control projection is loaded.", plane, projectionLoaded()),
    gauge("svc_control_refresh_degraded", "1 while the latest refresh of it failed.", plane, refreshDegraded()),
  ].join("");
}

function platformRoute(
  path: string,
  summary: string,
  response: Schema,
  answer: () => Json | Promise<Json>,
  headers: Readonly<Record<string, string>> = {},
): Route {
  return {
    method: "GET",
    path,
    tag: "platform",
    summary,
    callers: { kind: "anyone" },
    rate: "none",
    idempotency: "none",
    schemas: { response },
    statuses: [200],
    handle: async () => ({ body: await answer(), headers }),
  };
}

/** Milliseconds for which the outcome of a probe counts. */
const PROBE_MS = 1000;

/**
 * Calls `probe` at most once per second, however often load balancers ask; a rejection counts as
 * no. `nowMs` is a clock that never goes back.
 */
export function cachedProbe(probe: () => Promise<boolean>, nowMs: () => number): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let askedAtMs = 0;
  return () => {
    if (answer === undefined || nowMs() - askedAtMs >= PROBE_MS) {
      askedAtMs = nowMs();
      answer = probe().catch(() => false);
    }
    return answer;
  };
}

/** Far enough in the future that clients which ask before every write stop asking. */
const EXPIRES_AT = "2100-01-01T00:00:00Z";

/** Says where an organization's data lives: here, because one installation is one cell. */
export const routingRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/routing/current",
    tag: "platform",
    summary: "Where to send writes",
    callers: { kind: "credentials", key: { scopes: [] }, session: { roles: ["owner", "admin", "member", "viewer"] } },
    rate: "general",
    idempotency: "none",
    schemas: {
      response: {
        type: "object",
        required: ["org_id", "cell_id", "route_version", "data_api_base", "expires_at"],
        properties: {
          org_id: { type: "string", format: "uuid" },
          cell_id: { type: "string" },
          route_version: { type: "integer", minimum: 1 },
          data_api_base: { type: "string", format: "uri" },
          expires_at: { type: "string", format: "date-time" },
        },
      },
    },
    statuses: [200, 401],
    handle: ({ identity, baseUrl }) =>
      Promise.resolve({
        body: {
          org_id: identity?.orgId ?? "",
          cell_id: "default",
          route_version: 1,
          data_api_base: baseUrl,
          expires_at: EXPIRES_AT,
        },
      }),
  },
];

import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { loadPlans } from "@tidemark/requests";
import { defineModule, version, type ModuleContext } from "@tidemark/host";
import { ConfigError } from "@tidemark/host/config";
import { createCall } from "@tidemark/rpc";
import { createApp } from "./app.ts";
import { startChangeFeed } from "./changes/change-feed.ts";
import { createAccess, createDirectory } from "./auth/directory.ts";
import { createCredentialUses } from "./auth/credential-use.ts";
import { createProjection } from "./auth/projection.ts";
import { neededServices, openClients, type Clients } from "./clients.ts";
import { gatewayConfig } from "./config.ts";
import { ownPaths } from "./dashboard/dashboard.ts";
import { readBundle } from "./dashboard/read-bundle.ts";
import { shareWrites } from "./api/metrics/share-writes.ts";
import { allRoutes } from "./api/index.ts";
import { dialectRoutes } from "./dialects/index.ts";
import { basePathFaults } from "./http/base-path.ts";
import { createGatewayReports, createRequestCounts } from "./limits/request-counts.ts";
import { createLeaseBatch } from "./limits/lease-batch.ts";
import { usualReadPace } from "./gate/read-pace.ts";
import { createHeartbeats } from "./serving/heartbeats.ts";
import { createSpool } from "./spool/spool.ts";
import { createAdmissions } from "./gate/admissions.ts";

/** Published by the control service after every change that its projection carries. */
const PROJECTION_CHANGED = "tidemark.control.projection_changed.v1";

/** Milliseconds until a request is answered, with 503 if need be. All bounds of waiting inside are below it. */
const REQUEST_TIMEOUT_MS = 10_000;
/** How long the gateway waits for the control service on its own behalf, in milliseconds. */
const CONTROL_TIMEOUT_MS = 5000;
/** The same while a request waits for its credentials to be looked up. */
const LOOK_UP_TIMEOUT_MS = 2000;
/** The same while requests wait for tokens of their rate limit. */
const LEASE_TIMEOUT_MS = 500;
/** Milliseconds that a stopping gateway waits for answers in flight before it cuts connections. */
const CLOSE_TIMEOUT_MS = 15_000;
/** Milliseconds over which a client's pace of reading an answer is measured. */
const STALL_MS = 60_000;
const LISTEN_BACKLOG = 1024;

/** Ended credentials are removed from memory by checking some periodically: a few milliseconds per check, a million credentials in a quarter of an hour. */
const FORGET_EVERY_MS = 10_000;
const FORGET_ENTRIES = 10_000;

/** The REST interface: the only module with a public port. It stores nothing. */
export const gatewayModule = defineModule({
  name: "gateway",
  config: gatewayConfig,
  provides: [],
  needs: neededServices,
  listensOn: ({ host }) => host,
  exposureSecrets: ({ bootstrapToken }) => ({ TIDEMARK_BOOTSTRAP_TOKEN: bootstrapToken }),
  start: startGateway,
});

async function startGateway(context: ModuleContext<typeof gatewayConfig>) {
  const { config, log } = context;
  const faults = basePathFaults(config.publicUrl, [
    ...[...allRoutes, ...dialectRoutes].map(({ path }) => path),
    ...ownPaths,
  ]);
  if (faults.length > 0) throw new ConfigError(faults);
  const steadyMs = (): number => performance.now();
  const opened = openClients(context);
  const clients: Clients = {
    ...opened,
    ingest: context.isLocal(IngestService) ? opened.ingest : shareWrites(opened.ingest),
  };
  const ownCall = () => createCall({ timeoutMs: CONTROL_TIMEOUT_MS });
  const directory = createDirectory();
  const projection = createProjection({
    directory,
    fetchPage: (cursor) => clients.control.getProjection({ cursor, limit: 0 }, ownCall()),
    nowMs: steadyMs,
    log,
  });
  const access = createAccess({
    directory,
    fresh: projection.fresh,
    ask: (kind, id) => clients.control.lookupCredential({ kind, id }, createCall({ timeoutMs: LOOK_UP_TIMEOUT_MS })),
    nowMs: steadyMs,
  });
  const uses = createCredentialUses({
    report: async (noted) => void (await clients.control.recordCredentialUse({ uses: [...noted] }, ownCall())),
    nowMs: Date.now,
    log,
  });
  const signs = createHeartbeats({
    report: async (noted) => void (await clients.runs.recordSignsOfLife({ signs: [...noted] }, ownCall())),
    nowMs: steadyMs,
    log,
  });
  const spool = createSpool({
    directory: config.exportDirectory ?? join(tmpdir(), "tidemark-exports"),
    bytesMax: config.exportSpoolMib * 1024 * 1024,
    log,
  });
  context.metrics.watchExports(spool.held);
  const requestCounts = createRequestCounts(Date.now);
  const reports = createGatewayReports({
    gatewayId: randomUUID(),
    counts: requestCounts,
    send: (report) => clients.usage.reportRequests(report, ownCall()),
    log,
  });
  const lease = createLeaseBatch((leases) =>
    clients.usage.leaseTokens({ leases }, createCall({ timeoutMs: LEASE_TIMEOUT_MS })),
  );
  const feed = await startChangeFeed({ bus: context.bus, nowMs: steadyMs, log });
  const app = createApp({
    settings: {
      publicUrl: config.publicUrl,
      allowedOrigins: config.allowedOrigins,
      trustedProxies: config.trustedProxies,
      limits: config.limits,
      plans: loadPlans(config.plansFile),
      bootstrapToken: config.bootstrapToken,
      servicePlane: config.servicePlane,
      version,
      deadlineMs: REQUEST_TIMEOUT_MS,
      stallMs: STALL_MS,
      readPace: usualReadPace,
      bodyBytesHeldMax: config.bodyMemoryMib * 1024 * 1024,
      connectionsMax: config.connectionsMax,
    },
    routes: allRoutes,
    dialectRoutes,
    clients,
    bundle: config.dashboardDirectory === undefined ? undefined : await readBundle(config.dashboardDirectory),
    spool,
    objects: await context.blob(),
    access,
    changes: feed.hub,
    used: uses.note,
    alive: signs.note,
    projection,
    requestCounts,
    gateways: reports.gateways,
    leaseTokens: async (asked) => {
      const leased = await lease(asked);
      requestCounts.learn(asked.orgId, leased.month, Number(leased.monthRequests));
      return leased;
    },
    probe: () => context.peersReady(),
    turns: context.turns,
    admissions: createAdmissions(),
    log,
    metrics: context.metrics,
    clocks: { wallMs: Date.now, steadyMs },
  });

  // First, because a port in use is the most likely fault and there is nothing to undo then.
  await app.listen({ host: config.host, port: config.port, backlog: LISTEN_BACKLOG });
  log.info("the gateway listens", { address: app.listeningOrigin });
  const changes = await context.bus.listen(PROJECTION_CHANGED, projection.wake, projection.wake);
  projection.start();
  const forgetting = setInterval(() => directory.forgetEnded(Date.now(), FORGET_ENTRIES), FORGET_EVERY_MS);
  forgetting.unref();
  uses.start();
  signs.start();
  reports.start();

  return {
    implementations: [],
    ready: async () => projection.loaded() && (await context.peersReady()),
    async drain() {
      const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await app.close();
      clearTimeout(cut);
      await Promise.all([uses.stop(), signs.stop(), reports.stop()]);
    },
    async stop() {
      clearInterval(forgetting);
      projection.stop();
      await changes.close();
      await feed.stop();
    },
  };
}

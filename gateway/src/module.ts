import { readFileSync } from "node:fs";
import { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { ExportService } from "@tidemark/proto/imports/v1/export";
import { ArchiveService } from "@tidemark/proto/imports/v1/archive";
import { ImportsService } from "@tidemark/proto/imports/v1/imports";
import { RestoreService } from "@tidemark/proto/imports/v1/restore";
import { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { ReportsService } from "@tidemark/proto/reports/v1/reports";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { TracesService } from "@tidemark/proto/traces/v1/traces";
import { hostedPlans, parsePlans } from "@tidemark/plans";
import { defineModule, version, type ModuleContext } from "@tidemark/host";
import { createCall } from "@tidemark/rpc";
import { createApp } from "./app.ts";
import { createAccess, createDirectory } from "./auth/directory.ts";
import { createCredentialUses } from "./auth/credential-use.ts";
import { createProjection } from "./auth/projection.ts";
import type { Clients } from "./clients.ts";
import { gatewayConfig } from "./config.ts";
import { shareWrites } from "./api/metrics/share-writes.ts";
import { allRoutes } from "./api/index.ts";

/** Published by the control service after every change that its projection carries. */
const PROJECTION_CHANGED = "tidemark.control.projection_changed.v1";

/** How long the gateway waits for the control service on its own behalf, in milliseconds. */
const CONTROL_TIMEOUT_MS = 5000;
/** The same while a request waits for its credentials to be looked up. */
const LOOK_UP_TIMEOUT_MS = 2000;
/** Milliseconds that a stopping gateway waits for answers in flight before it cuts connections. */
const CLOSE_TIMEOUT_MS = 15_000;
/** Milliseconds after which a client is cut that takes nothing of a file. */
const STALL_MS = 60_000;
const LISTEN_BACKLOG = 1024;

/** The REST interface: the only module with a public port. It stores nothing. */
export const gatewayModule = defineModule({
  name: "gateway",
  config: gatewayConfig,
  provides: [],
  needs: [
    { module: "control", service: ControlService },
    { module: "runs", service: RunsService },
    { module: "ingest", service: IngestService },
    { module: "ingest-read", service: IngestReadService },
    { module: "artifacts", service: ArtifactsService },
    { module: "traces", service: TracesService },
    { module: "reports", service: ReportsService },
    { module: "imports-export", service: ArchiveService },
    { module: "imports-export", service: ImportsService },
    { module: "imports-export", service: ExportService },
    { module: "imports-export", service: RestoreService },
    { module: "artifacts", service: ArtifactsRestoreService },
  ],
  start: startGateway,
});

async function startGateway(context: ModuleContext<typeof gatewayConfig>) {
  const { config, log } = context;
  const steadyMs = (): number => performance.now();
  const ingest = context.client(IngestService);
  const clients: Clients = {
    control: context.client(ControlService),
    runs: context.client(RunsService),
    ingest: context.isLocal(IngestService) ? ingest : shareWrites(ingest),
    ingestRead: context.client(IngestReadService),
    artifacts: context.client(ArtifactsService),
    traces: context.client(TracesService),
    reports: context.client(ReportsService),
    archive: context.client(ArchiveService),
    imports: context.client(ImportsService),
    exports: context.client(ExportService),
    restore: context.client(RestoreService),
    restoredBytes: context.client(ArtifactsRestoreService),
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
  const app = createApp({
    settings: {
      publicUrl: config.publicUrl,
      allowedOrigins: config.allowedOrigins,
      trustedProxies: config.trustedProxies,
      limits: config.limits,
      plans: config.plansFile === undefined ? hostedPlans : parsePlans(readFileSync(config.plansFile, "utf8")),
      bootstrapToken: config.bootstrapToken,
      servicePlane: config.servicePlane,
      version,
      deadlineMs: config.requestTimeoutSeconds * 1000,
      stallMs: STALL_MS,
      bodyBytesHeldMax: config.bodyMemoryMib * 1024 * 1024,
    },
    routes: allRoutes,
    clients,
    objects: await context.blob(),
    access,
    used: uses.note,
    projection,
    probe: () => context.peersReady(),
    log,
    metrics: context.metrics,
    clocks: { wallMs: Date.now, steadyMs },
  });

  // First, because a port in use is the most likely fault and nothing has to be undone then.
  await app.listen({ host: config.host, port: config.port, backlog: LISTEN_BACKLOG });
  log.info("the gateway listens", { address: app.listeningOrigin });
  const changes = await context.bus.listen(PROJECTION_CHANGED, projection.wake, projection.wake);
  projection.start();
  uses.start();

  return {
    implementations: [],
    ready: async () => projection.loaded() && (await context.peersReady()),
    async drain() {
      const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await app.close();
      clearTimeout(cut);
      await uses.stop();
    },
    async stop() {
      projection.stop();
      await changes.close();
    },
  };
}

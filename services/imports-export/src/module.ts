import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { startRelay, startRemover, type MigrationSet } from "@tidemark/pg";
import { gateOfSettings } from "@tidemark/requests";
import { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { ArchiveService } from "@tidemark/proto/imports/v1/archive";
import { ExportService } from "@tidemark/proto/imports/v1/export";
import { ImportsService } from "@tidemark/proto/imports/v1/imports";
import { RestoreService } from "@tidemark/proto/imports/v1/restore";
import { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { IngestRestoreService } from "@tidemark/proto/ingest/v1/restore";
import { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import { RunsArchiveService } from "@tidemark/proto/runs/v1/archive";
import { RunsRestoreService } from "@tidemark/proto/runs/v1/restore";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { TracesArchiveService } from "@tidemark/proto/traces/v1/archive";
import { TracesRestoreService } from "@tidemark/proto/traces/v1/restore";
import { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { createCall, implement, type Call } from "@tidemark/rpc";
import { archiveHandlers, createExportPlaces } from "./archive/export-archive.ts";
import { startCommitter } from "./commit/committer.ts";
import { importsExportConfig } from "./config.ts";
import { exportHandlers, importsHandlers } from "./handlers.ts";
import { createReaders } from "./reading/readers.ts";
import { removeImports } from "./removal/remove-imports.ts";
import { restoreHandlers } from "./restore/restore-archive.ts";
import { startRestorer } from "./restore/restorer.ts";

/** Schema `imports`. */
const importsMigrations: MigrationSet = {
  schema: "imports",
  directory: join(import.meta.dirname, "store"),
};

/** Milliseconds that a call of a commit may take. */
const CALL_MS = 30_000;
/** Threads that read the bodies of imports: two, because an organization has all but one. */
const READER_THREADS = 2;
/** Archives that a process restores simultaneously, as many as its threads can read; further ones wait for their turn. */
const RESTORES_MAX = 2;
/**
 * Complete exports that a process reads at the same time. Each keeps a database connection of the service that it reads
 * from; an organization has at most half of them while others export.
 */
const COMPLETE_EXPORTS_MAX = 4;

/** Import jobs and exports. */
export const importsExportModule = defineModule({
  name: "imports-export",
  config: importsExportConfig,
  schema: "imports",
  migrations: importsMigrations,
  reads: ["runs.project_refs_v1"],
  provides: [ImportsService, ExportService, ArchiveService, RestoreService],
  needs: [
    { module: "control", service: ControlService },
    { module: "runs", service: RunsService },
    { module: "ingest", service: IngestService },
    { module: "ingest-read", service: IngestReadService },
    { module: "artifacts", service: ArtifactsService },
    { module: "runs", service: RunsArchiveService },
    { module: "ingest-read", service: IngestArchiveService },
    { module: "artifacts", service: ArtifactsArchiveService },
    { module: "traces", service: TracesArchiveService },
    { module: "reports", service: ReportsArchiveService },
    { module: "runs", service: RunsRestoreService },
    { module: "ingest", service: IngestRestoreService },
    { module: "artifacts", service: ArtifactsRestoreService },
    { module: "traces", service: TracesRestoreService },
    { module: "reports", service: ReportsRestoreService },
    { module: "usage", service: UsageService, optional: true },
  ],
  async start(context) {
    const { config, log, bus, metrics } = context;
    const [db, workerDb] = [context.db(), context.workerDb()];
    const relay = startRelay({
      db: workerDb,
      service: "imports",
      publish: ({ subject, payload, id, headers }) => bus.publish(subject, payload, { id, headers }),
      onError: (error) => log.warn("a message could not be relayed; it is tried again", { error }),
      onLag: (seconds) => metrics.outboxLag("imports", seconds),
    });
    const clients = {
      control: context.client(ControlService),
      runs: context.client(RunsService),
      ingest: context.client(IngestService),
      ingestRead: context.client(IngestReadService),
      artifacts: context.client(ArtifactsService),
    };
    const archiveClients = {
      runs: context.client(RunsArchiveService),
      ingest: context.client(IngestArchiveService),
      artifacts: context.client(ArtifactsArchiveService),
      traces: context.client(TracesArchiveService),
      reports: context.client(ReportsArchiveService),
    };
    const restoreClients = {
      runs: context.client(RunsRestoreService),
      ingest: context.client(IngestRestoreService),
      artifacts: context.client(ArtifactsRestoreService),
      traces: context.client(TracesRestoreService),
      reports: context.client(ReportsRestoreService),
    };
    const exportClients = {
      ...clients,
      ingestArchive: archiveClients.ingest,
      artifactsArchive: archiveClients.artifacts,
    };
    const committer = await startCommitter({
      db,
      workerDb,
      bus,
      log,
      newId: randomUUID,
      newCall: (identity) => createCall({ identity, timeoutMs: CALL_MS }),
      clients: { ...clients, runs: restoreClients.runs },
    });
    const readers = createReaders(READER_THREADS);
    const restorer = startRestorer({
      db,
      workerDb,
      log,
      readers,
      newCall: (identity) => createCall({ identity, timeoutMs: CALL_MS }),
      clients: restoreClients,
      restoresMax: RESTORES_MAX,
    });
    const remover = startRemover({
      db: workerDb,
      service: "imports",
      remove: (removal) => removeImports(db, removal),
      seconds: config.removalSeconds,
      log,
    });
    const gate = gateOfSettings(config, {
      target: "storage",
      quota: Quota.STORAGE,
      usage: context.client(UsageService),
      log,
    });
    const archive = archiveHandlers({
      clients: archiveClients,
      now: () => context.now(),
      places: createExportPlaces(COMPLETE_EXPORTS_MAX),
    });
    return {
      implementations: [
        implement(ImportsService, importsHandlers({ db, gate, readers, wakeRelay: () => relay.wake() })),
        implement(ExportService, exportHandlers({ db, clients: exportClients, callFor, now: () => context.now() })),
        implement(ArchiveService, archive),
        implement(RestoreService, restoreHandlers({ db, gate, readers, begin: (name) => restorer.begin(name) })),
      ],
      ready: () => db.ping(),
      drain: async () => void (await Promise.all([committer.drain(), restorer.drain()])),
      stop: async () => void (await Promise.all([relay.stop(), remover.stop(), readers.close()])),
    };
  },
});

/** A stream takes longer than each call that it makes. */
function callFor({ requestId, identity, traceparent }: Call): Call {
  return createCall({ requestId, identity, traceparent });
}

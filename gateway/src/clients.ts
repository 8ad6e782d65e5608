import type { Client } from "@tidemark/rpc";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ControlService } from "@tidemark/proto/control/v1/control";
import type { ExportService } from "@tidemark/proto/imports/v1/export";
import type { ArchiveService } from "@tidemark/proto/imports/v1/archive";
import type { ImportsService } from "@tidemark/proto/imports/v1/imports";
import type { RestoreService } from "@tidemark/proto/imports/v1/restore";
import type { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import type { ReportsService } from "@tidemark/proto/reports/v1/reports";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { TracesService } from "@tidemark/proto/traces/v1/traces";
import type { UsageService } from "@tidemark/proto/usage/v1/usage";

/** The services behind the routes. */
export type Clients = {
  readonly control: Client<(typeof ControlService)["method"]>;
  readonly runs: Client<(typeof RunsService)["method"]>;
  readonly ingest: Client<(typeof IngestService)["method"]>;
  readonly ingestRead: Client<(typeof IngestReadService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsService)["method"]>;
  readonly traces: Client<(typeof TracesService)["method"]>;
  readonly reports: Client<(typeof ReportsService)["method"]>;
  readonly exports: Client<(typeof ExportService)["method"]>;
  readonly archive: Client<(typeof ArchiveService)["method"]>;
  readonly imports: Client<(typeof ImportsService)["method"]>;
  readonly usage: Client<(typeof UsageService)["method"]>;
  readonly restore: Client<(typeof RestoreService)["method"]>;
  /** Receives the bytes of archives. */
  readonly restoredBytes: Client<(typeof ArtifactsRestoreService)["method"]>;
};

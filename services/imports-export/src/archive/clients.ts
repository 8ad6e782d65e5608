import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import type { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import type { RunsArchiveService } from "@tidemark/proto/runs/v1/archive";
import type { TracesArchiveService } from "@tidemark/proto/traces/v1/archive";
import type { Client } from "@tidemark/rpc";

/** Clients of the services that store the data of an archive export. */
export type ArchiveClients = {
  readonly runs: Client<(typeof RunsArchiveService)["method"]>;
  readonly ingest: Client<(typeof IngestArchiveService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsArchiveService)["method"]>;
  readonly traces: Client<(typeof TracesArchiveService)["method"]>;
  readonly reports: Client<(typeof ReportsArchiveService)["method"]>;
};

import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import type { IngestRestoreService } from "@tidemark/proto/ingest/v1/restore";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import type { RunsRestoreService } from "@tidemark/proto/runs/v1/restore";
import type { TracesRestoreService } from "@tidemark/proto/traces/v1/restore";
import type { Client } from "@tidemark/rpc";

/** Clients of the services that store the data of a restore. */
export type RestoreClients = {
  readonly runs: Client<(typeof RunsRestoreService)["method"]>;
  readonly ingest: Client<(typeof IngestRestoreService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsRestoreService)["method"]>;
  readonly traces: Client<(typeof TracesRestoreService)["method"]>;
  readonly reports: Client<(typeof ReportsRestoreService)["method"]>;
};

import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Client } from "@tidemark/rpc";

/** Clients of the services that store the data of an import. */
export type CommitClients = {
  readonly runs: Pick<Client<(typeof RunsService)["method"]>, "prepareImport" | "importRuns">;
  readonly ingest: Pick<
    Client<(typeof IngestService)["method"]>,
    "appendMetrics" | "appendMetricsTogether" | "appendAttributes"
  >;
  readonly ingestRead: Pick<Client<(typeof IngestReadService)["method"]>, "listMetricPoints">;
  readonly artifacts: Pick<Client<(typeof ArtifactsService)["method"]>, "importArtifacts">;
};

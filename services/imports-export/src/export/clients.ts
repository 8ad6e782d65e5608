import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ControlService } from "@tidemark/proto/control/v1/control";
import type { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import type { IngestReadService } from "@tidemark/proto/ingest/v1/ingest";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Client } from "@tidemark/rpc";

/** The services that own the data of an export. */
export type ExportClients = {
  readonly control: Client<(typeof ControlService)["method"]>;
  readonly runs: Client<(typeof RunsService)["method"]>;
  readonly ingestRead: Client<(typeof IngestReadService)["method"]>;
  readonly ingestArchive: Client<(typeof IngestArchiveService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsService)["method"]>;
  readonly artifactsArchive: Client<(typeof ArtifactsArchiveService)["method"]>;
};

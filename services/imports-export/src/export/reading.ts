import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExportRunsResponseSchema } from "@tidemark/proto/imports/v1/export";
import type { Call, Client } from "@tidemark/rpc";
import type { RunMeasure } from "@tidemark/proto/ingest/v1/run_data";
import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ControlService } from "@tidemark/proto/control/v1/control";
import type { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import type { IngestReadService } from "@tidemark/proto/ingest/v1/ingest";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Allowance } from "./export-limits.rules.ts";

/** A part of an export in the form in which it is sent. */
export type Part = NonNullable<MessageInitShape<typeof ExportRunsResponseSchema>["part"]>;

/** A run of an export, with its amounts: artifacts and the counts of `RunMeasure`. */
export type PlannedRun = Pick<RunMeasure, "points" | "metricKeys" | "hasAttributes" | "objectKinds"> & {
  readonly runId: string;
  readonly artifacts: number;
};

/** Dependencies of reading the rows of one kind. */
export type Reading = {
  readonly clients: ExportClients;
  /** The call of the export, for streams. */
  readonly call: Call;
  /** Starts a call with a deadline of its own, for single answers. */
  readonly newCall: () => Call;
  readonly allowance: Allowance;
};

/** The services that own the data of an export. */
export type ExportClients = {
  readonly control: Client<(typeof ControlService)["method"]>;
  readonly runs: Client<(typeof RunsService)["method"]>;
  readonly ingestRead: Client<(typeof IngestReadService)["method"]>;
  readonly ingestArchive: Client<(typeof IngestArchiveService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsService)["method"]>;
  readonly artifactsArchive: Client<(typeof ArtifactsArchiveService)["method"]>;
};

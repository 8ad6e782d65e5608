import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { ModuleContext, ModuleNeed } from "@tidemark/host";
import { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import { ModelsService } from "@tidemark/proto/artifacts/v1/models";
import { RegistryService } from "@tidemark/proto/artifacts/v1/registry";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { ExportService } from "@tidemark/proto/imports/v1/export";
import { ArchiveService } from "@tidemark/proto/imports/v1/archive";
import { ImportsService } from "@tidemark/proto/imports/v1/imports";
import { RestoreService } from "@tidemark/proto/imports/v1/restore";
import { IngestReadService, IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { ReportsService } from "@tidemark/proto/reports/v1/reports";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { TracesService } from "@tidemark/proto/traces/v1/traces";
import { UsageService } from "@tidemark/proto/usage/v1/usage";
import type { Client } from "@tidemark/rpc";

/** The services behind the routes, and the modules that answer them. */
const services = {
  control: { module: "control", service: ControlService },
  runs: { module: "runs", service: RunsService },
  ingest: { module: "ingest", service: IngestService },
  ingestRead: { module: "ingest-read", service: IngestReadService },
  artifacts: { module: "artifacts", service: ArtifactsService },
  models: { module: "artifacts", service: ModelsService },
  registry: { module: "artifacts", service: RegistryService },
  traces: { module: "traces", service: TracesService },
  reports: { module: "reports", service: ReportsService },
  archive: { module: "imports-export", service: ArchiveService },
  imports: { module: "imports-export", service: ImportsService },
  exports: { module: "imports-export", service: ExportService },
  restore: { module: "imports-export", service: RestoreService },
  /** Receives the bytes of archives. */
  restoredBytes: { module: "artifacts", service: ArtifactsRestoreService },
  // Without it each gateway grants its part of every rate.
  usage: { module: "usage", service: UsageService, optional: true },
} as const satisfies Readonly<Record<string, ModuleNeed>>;

type Services = typeof services;

/** A client of each service behind the routes. */
export type Clients = { readonly [Name in keyof Services]: Client<Services[Name]["service"]["method"]> };

/** The gateway's dependencies on other modules. */
export const neededServices: readonly ModuleNeed[] = Object.values(services);

/** Opens the clients. */
export function openClients(context: Pick<ModuleContext, "client">): Clients {
  const known: Readonly<Record<string, { readonly service: GenService<GenServiceMethods> }>> = services;
  const opened = Object.entries(known).map(([name, { service }]) => [name, context.client(service)]);
  return Object.fromEntries(opened) as Clients;
}

import type { ExportArchiveRequest } from "@tidemark/proto/imports/v1/archive";
import type { Project } from "@tidemark/proto/runs/v1/runs";
import type { ExportedRun, RunsArchiveService } from "@tidemark/proto/runs/v1/archive";
import type { Call, Client } from "@tidemark/rpc";
import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import type { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import type { TracesArchiveService } from "@tidemark/proto/traces/v1/archive";

/** The selection of an export, as its runs arrive: `projects` and `runIds` are complete when the last run has been read. */
export type SelectedRuns = {
  readonly projects: Project[];
  readonly runIds: string[];
};

/**
 * Reads projects and runs, each project before its runs, and remembers them. Nothing else is read meanwhile, because the service keeps a transaction
 * open until the last run is taken.
 * @throws bad_request, not_found before the first row
 */
export async function* readSelectedRuns(
  { runs }: Pick<ArchiveClients, "runs">,
  { runIds, project }: Pick<ExportArchiveRequest, "runIds" | "project">,
  call: Call,
  selected: SelectedRuns,
): AsyncGenerator<Project | ExportedRun, void, undefined> {
  for await (const { rows } of runs.exportRuns({ runIds, project }, call)) {
    if (rows.case === "project") {
      selected.projects.push(rows.value);
      yield rows.value;
    } else if (rows.case === "runs") {
      for (const exported of rows.value.runs) {
        selected.runIds.push(exported.run!.id);
        yield exported;
      }
    }
  }
}

/** Runs that one request to a service names. */
export const RUNS_TOGETHER = 100;

/** Returns the runs in groups small enough for one request. */
export function groupsOf(runIds: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(runIds.length / RUNS_TOGETHER) }, (_, i) =>
    runIds.slice(i * RUNS_TOGETHER, (i + 1) * RUNS_TOGETHER),
  );
}

/** Clients of the services that store the data of an archive export. */
export type ArchiveClients = {
  readonly runs: Client<(typeof RunsArchiveService)["method"]>;
  readonly ingest: Client<(typeof IngestArchiveService)["method"]>;
  readonly artifacts: Client<(typeof ArtifactsArchiveService)["method"]>;
  readonly traces: Client<(typeof TracesArchiveService)["method"]>;
  readonly reports: Client<(typeof ReportsArchiveService)["method"]>;
};

import { EXPORT_LIMITS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { Organization } from "@tidemark/proto/control/v1/control";
import type { RunMeasure } from "@tidemark/proto/ingest/v1/run_data";
import type { ExportRunsRequest } from "@tidemark/proto/imports/v1/export";
import type { Project } from "@tidemark/proto/runs/v1/runs";
import { callerOf } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { isBeyondLimits, type ImportOfRuns } from "./export-limits.rules.ts";
import type { ExportClients } from "./reading.ts";
import { findImports } from "./read-imports.ts";

/** A run of an export, with its amounts: artifacts and the counts of `RunMeasure`. */
export type PlannedRun = Pick<RunMeasure, "points" | "metricKeys" | "hasAttributes" | "objectKinds"> & {
  readonly runId: string;
  readonly artifacts: number;
};

/** The plan of what an export reads. */
export type ExportPlan = {
  readonly organization: Organization | undefined;
  readonly projects: readonly Project[];
  readonly runs: readonly PlannedRun[];
  /** Newest first. */
  readonly imports: readonly ImportOfRuns[];
  /** Whether runs or rows are left out. */
  readonly truncated: boolean;
};

/**
 * Finds the runs of an export, and from counters whether it leaves anything out: the headers, which precede the first row, say so.
 * @throws bad_request, not_found, run_search_invalid, run_search_too_broad
 */
export async function planExport(
  { clients, db }: { readonly clients: ExportClients; readonly db: Db },
  request: ExportRunsRequest,
  call: Call,
): Promise<ExportPlan> {
  const { runIds: named, filter, order } = request;
  const asked = { runIds: named, filter, order, limit: EXPORT_LIMITS.runs };
  const [{ organization }, selected] = await Promise.all([
    clients.control.getOrganization({}, call),
    clients.runs.selectRuns(asked, call),
  ]);
  const { projects, more } = selected;
  const runIds = selected.runs.map(({ runId }) => runId);
  if (runIds.length === 0) return { organization, projects, runs: [], imports: [], truncated: more };
  const { attributes: attributesMax, tableObjectRows: tableRowsMax } = EXPORT_LIMITS;
  const [measured, counted, imported] = await Promise.all([
    clients.ingestRead.measureRunData({ runIds, attributesMax, tableRowsMax }, call),
    clients.artifacts.countArtifacts({ runIds }, call),
    findImports(db, callerOf(call).orgId, runIds),
  ]);
  const runs = runIds.map((runId, i): PlannedRun => {
    const { points, metricKeys, hasAttributes, objectKinds } = measured.runs[i]!;
    return { runId, points, metricKeys, hasAttributes, objectKinds, artifacts: counted.counts[i]! };
  });
  const isCut = measured.moreAttributes || measured.moreTableRows || imported.more || isBeyondLimits(runs);
  return { organization, projects, runs, imports: imported.imports, truncated: more || isCut };
}

import { badRequest } from "@tidemark/errors";
import { EXPORT_LIMITS } from "@tidemark/limits";
import { callerOf } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { ExportDeps, ExportHandlers } from "../deps.ts";
import { createAllowance, type Allowance, isBeyondLimits, type ImportOfRuns } from "./export-limits.rules.ts";
import { exportAttributes } from "./read-attributes.ts";
import { exportImports, findImports } from "./read-imports.ts";
import { exportArtifacts, exportPoints, exportRunRows, exportSeries, exportTableRows } from "./read-rows.ts";
import type { ExportClients, Part, PlannedRun, Reading } from "./reading.ts";
import type { Db } from "@tidemark/pg";
import type { Organization } from "@tidemark/proto/control/v1/control";
import type { ExportRunsRequest } from "@tidemark/proto/imports/v1/export";
import type { Project } from "@tidemark/proto/runs/v1/runs";

/**
 * ExportService.ExportRuns. One page of one service is in memory at a time; the next one is read when the caller has taken it.
 * @throws before the first part: bad_request, not_found, run_search_invalid, run_search_too_broad
 */
export function exportRuns(deps: ExportDeps): ExportHandlers["exportRuns"] {
  const { db, clients, now } = deps;
  return async function* answer(request, call) {
    const { orgId } = callerOf(call);
    const { selectedRunIds } = EXPORT_LIMITS;
    if (request.runIds.length > selectedRunIds) {
      throw badRequest(`run_ids may name at most ${selectedRunIds} runs`, "run_ids");
    }
    const newCall = (): Call => deps.callFor(call);
    const exportedAt = now().toISOString();
    const { organization, projects, runs, imports, truncated } = await planExport(deps, request, newCall());
    const beginning = { organization, exportedAt, truncated };
    yield { part: { case: "beginning", value: beginning } };
    if (request.onlyBeginning) return;
    if (projects.length > 0) yield { part: { case: "projects", value: { projects: [...projects] } } };

    const allowances: Allowance[] = [];
    const reading = (max: number): Reading => {
      const allowance = createAllowance(max);
      allowances.push(allowance);
      return { clients, call, newCall, allowance };
    };
    const sections: AsyncGenerator<Part>[] = [
      exportRunRows(reading(EXPORT_LIMITS.runs), runs),
      exportSeries(reading(EXPORT_LIMITS.metricSeries), runs),
      exportPoints(reading(EXPORT_LIMITS.metrics), runs),
      exportAttributes(reading(EXPORT_LIMITS.attributes), runs, orgId),
      exportArtifacts(reading(EXPORT_LIMITS.artifacts), runs),
      exportTableRows(reading(EXPORT_LIMITS.tableObjectRows), runs),
      exportImports(db, orgId, imports),
    ];
    for (const section of sections) for await (const part of section) yield { part };
    const isCut = truncated || allowances.some((allowance) => allowance.isExceeded());
    yield { part: { case: "end", value: { truncated: isCut } } };
  };
}

/** The plan of what an export reads. */
type ExportPlan = {
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
async function planExport(
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

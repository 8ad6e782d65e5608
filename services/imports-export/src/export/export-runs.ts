import { badRequest } from "@tidemark/errors";
import { EXPORT_LIMITS } from "@tidemark/limits";
import { callerOf } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { ExportDeps, ExportHandlers } from "../deps.ts";
import { createAllowance, type Allowance } from "./export-limits.rules.ts";
import { planExport } from "./export-plan.ts";
import { exportAttributes } from "./read-attributes.ts";
import { exportImports } from "./read-imports.ts";
import { exportArtifacts, exportPoints, exportRunRows, exportSeries, exportTableRows } from "./read-rows.ts";
import type { Part, Reading } from "./reading.ts";

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

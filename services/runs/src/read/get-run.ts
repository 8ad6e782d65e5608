import { badRequest, isAppError, notFound, type AppError } from "@tidemark/errors";
import { callerOf, isUuid, pathId, requireLimit, throwFault, type Caller } from "@tidemark/requests";
import { RUN_METRIC_KEYS_MAX, VIEW_PANELS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { compareKeyBytes } from "@tidemark/codecs/metrics";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import {
  endOfPrefix,
  keyCursor,
  metricKeysOf,
  readKeyCursor,
  rankMetricKeys,
  type MetricRow,
} from "../metrics/aggregates.rules.ts";
import { countFittingRuns, pageTooHeavy } from "../list/page-weight.sql.ts";
import { seeDeleted } from "../deletion/hidden-rows.sql.ts";
import { encodeRunSummary } from "./encode-rows.ts";
import { countVisibleRuns } from "./runs.sql.ts";
import { findRunSummary, type RunSummaryRow, readSummariesWithKeys, listKeyCounts } from "./summaries.sql.ts";

/**
 * Returns a run with its summary and a page of its metric keys (API specification, GET /runs/{run_id}).
 * @throws not_found, then bad_request
 */
export function getRun({ db, staleness }: RunsDeps): RunsHandlers["getRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    const page = readPage(request);
    const limit = page.fault === undefined ? request.metricLimit : 1;
    const keys = { from: request.metricPrefix, end: endOfPrefix(request.metricPrefix), after: page.after, limit };
    const row = await db.withTenant(caller.orgId, async (tx) => {
      if (request.includeDeleted) await seeDeleted(tx);
      return findRunSummary(tx, caller.orgId, runId, caller.projectId, keys);
    });
    if (row === undefined || (request.includeDeleted && isOver(row))) throw notFound("run");
    if (page.fault !== undefined) throw page.fault;
    const options = { stopDetails: mayReadStopDetails(caller), nextCursor: cursorAfter(row, limit) };
    return { run: encodeRunSummary(row, staleness, options), hidden: row.hidden };
  };
}

/** Whether a deleted run can no longer be restored. */
function isOver({ purge_after: own, project_purge_after: ofProject }: RunSummaryRow): boolean {
  return [own, ofProject].some((purgeAfter) => purgeAfter !== null && !(Date.parse(purgeAfter) > Date.now()));
}

type PageRequest = Parameters<RunsHandlers["getRun"]>[0];

/** Reads the page, or returns the fault that is thrown once the run is found. */
function readPage(request: PageRequest): { after: string; fault?: AppError } {
  try {
    throwFault(request.queryFault);
    requireLimit(request.metricLimit, RUN_METRIC_KEYS_MAX, "metric_limit");
    return { after: readKeyCursor(request.metricCursor) };
  } catch (error) {
    if (isAppError(error)) return { after: "", fault: error };
    throw error;
  }
}

/** Returns whether the caller may read reason and message of a stop: only those who may read runs and stop them. */
function mayReadStopDetails({ scopes }: Caller): boolean {
  return scopes.includes("export:read") && scopes.includes("runs:control");
}

function cursorAfter(row: MetricRow, limit: number): string {
  const keys = metricKeysOf(row);
  const last = keys.at(-1);
  return last === undefined || keys.length < limit ? "" : keyCursor(last);
}

/** Returns runs by id, in order, with the metrics of named keys or of those with the most points. @throws bad_request, not_found where one is missing */
export function getRuns({ db, staleness }: Pick<RunsDeps, "db" | "staleness">): RunsHandlers["getRuns"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const ids = requireDistinct(request.runIds, VIEW_RUNS_MAX, "run_ids");
    if (ids.length === 0 || !ids.every(isUuid)) throw badRequest("run_ids must be UUIDs", "run_ids");
    const named = requireDistinct(request.metricKeys, VIEW_PANELS.max, "metric_keys");
    const { rankedKeysMax } = request;
    if (rankedKeysMax > VIEW_PANELS.max) throw badRequest("ranked_keys_max is too large", "ranked_keys_max");
    return db.readTenant(orgId, async (tx) => {
      const fitting = await countFittingRuns(tx, orgId, ids);
      if (fitting < ids.length) {
        if ((await countVisibleRuns(tx, orgId, ids, projectId)) < ids.length) throw notFound("run");
        throw pageTooHeavy(fitting, "run_ids");
      }
      const rankedKeys = rankedKeysMax === 0 ? [] : rankMetricKeys(await listKeyCounts(tx, orgId, ids), rankedKeysMax);
      const keys = [...(rankedKeysMax === 0 ? named : rankedKeys)].toSorted(compareKeyBytes);
      const rows = await readSummariesWithKeys(tx, orgId, ids, keys, projectId);
      if (rows.length < ids.length) throw notFound("run");
      return { runs: rows.map((row) => encodeRunSummary(row, staleness)), rankedKeys };
    });
  };
}

function requireDistinct(texts: readonly string[], countMax: number, field: string): string[] {
  const distinct = [...new Set(texts)];
  if (distinct.length > countMax) throw badRequest(`${field} must have at most ${countMax} members`, field);
  return distinct;
}

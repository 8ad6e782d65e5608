import { isAppError, notFound, type AppError } from "@tidemark/errors";
import { callerOf, pathId, requireLimit, throwFault, type Caller } from "@tidemark/requests";
import { RUN_METRIC_KEYS_MAX } from "@tidemark/limits";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { metricKeysOf, type MetricRow } from "../metrics/aggregates.rules.ts";
import { endOfPrefix, keyCursor, readKeyCursor } from "../metrics/key-range.rules.ts";
import { encodeRunSummary } from "./encode-run.ts";
import { findRunSummary } from "./runs.sql.ts";

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
    const row = await db.withTenant(caller.orgId, (tx) =>
      findRunSummary(tx, caller.orgId, runId, caller.projectId, keys),
    );
    if (row === undefined) throw notFound("run");
    if (page.fault !== undefined) throw page.fault;
    const options = { stopDetails: mayReadStopDetails(caller), nextCursor: cursorAfter(row, limit) };
    return { run: encodeRunSummary(row, staleness, options) };
  };
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

import { badRequest, notFound } from "@tidemark/errors";
import { VIEW_PANELS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { compareKeyBytes } from "@tidemark/metric-codec";
import { callerOf, isUuid } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { countFittingRuns, pageTooHeavy } from "../list/page-weight.sql.ts";
import { encodeRunSummary } from "./encode-run.ts";
import { rankMetricKeys } from "./ranked-keys.rules.ts";
import { listKeyCounts } from "./ranked-keys.sql.ts";
import { countVisibleRuns, readSummariesWithKeys } from "./runs.sql.ts";

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

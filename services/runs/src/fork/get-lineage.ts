import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { callerOf, pathId } from "@tidemark/requests";
import { LIST_METRIC_KEYS_MAX } from "@tidemark/limits";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { encodeRunSummary } from "../read/encode-run.ts";
import { listRelatives } from "./relatives.sql.ts";

/** Most children of a lineage. */
const CHILDREN_MAX = 100;

/** Returns a run, its parent and its newest children (API specification, GET /api/runs/{run_id}/lineage). @throws not_found */
export function getLineage({ db }: RunsDeps): RunsHandlers["getLineage"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const runId = pathId(request.runId, "run");
    const limits = { children: CHILDREN_MAX, metricKeys: LIST_METRIC_KEYS_MAX };
    const list = (tx: Tx) => listRelatives(tx, orgId, runId, projectId, limits);
    const rows = await db.readTenant(orgId, list, { plans: "walks" });
    const [run] = rows;
    if (run === undefined) throw notFound("run");
    const parent = rows.find(({ relation }) => relation === "parent");
    return {
      run: encodeRunSummary(run),
      ...(parent === undefined ? {} : { parent: encodeRunSummary(parent) }),
      children: rows.filter(({ relation }) => relation === "child").map((child) => encodeRunSummary(child)),
      childrenTotal: BigInt(run.children_total),
      limit: CHILDREN_MAX,
    };
  };
}

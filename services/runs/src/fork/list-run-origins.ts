import type { MessageInitShape } from "@bufbuild/protobuf";
import { notFound } from "@tidemark/errors";
import type { RunOriginSchema } from "@tidemark/proto/runs/v1/runs";
import { callerOf, pathId } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { listOrigins } from "./origins.sql.ts";

/** Maximum number of ancestors listed for a run. */
const DEPTH_MAX = 100;

/** RunsService.ListRunOrigins. @throws not_found when the caller may not see one of the runs */
export function listRunOrigins({ db }: RunsDeps): RunsHandlers["listRunOrigins"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const runIds = request.runIds.map((runId) => pathId(runId, "run"));
    const depthMax = request.withAncestors ? DEPTH_MAX : 0;
    const rows = await db.readTenant(orgId, (tx) => listOrigins(tx, orgId, runIds, projectId, depthMax));
    const chains = runIds.map((): MessageInitShape<typeof RunOriginSchema>[] => []);
    rows.forEach(({ place, id, startedUs, parentId, forkedFromStep }, at) => {
      const next = rows[at + 1];
      const isForkOfNext = next?.place === place && next.id === parentId;
      const step = isForkOfNext && forkedFromStep !== null ? { forkedFromStep } : {};
      chains[place - 1]!.push({ runId: id, startedUs, ...step });
    });
    if (chains.some((runs) => runs.length === 0)) throw notFound("run");
    return { chains: chains.map((runs) => ({ runs })) };
  };
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { notFound } from "@tidemark/errors";
import type { ArtifactSchema } from "@tidemark/proto/artifacts/v1/artifacts";
import { callerOf, pathId } from "@tidemark/requests";
import { LIST_METRIC_KEYS_MAX } from "@tidemark/limits";
import type { RunOriginSchema } from "@tidemark/proto/runs/v1/runs";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeRunSummary } from "../read/encode-rows.ts";
import { findArtifact, listOrigins, listRelatives, type ArtifactRow } from "./lineage.sql.ts";

/** Maximum number of children in a lineage. */
const CHILDREN_MAX = 100;

/** Returns a run, its parent and its newest children (API specification, GET /api/runs/{run_id}/lineage). @throws not_found */
export function getLineage({ db, staleness }: RunsDeps): RunsHandlers["getLineage"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const runId = pathId(request.runId, "run");
    const limits = { children: CHILDREN_MAX, metricKeys: LIST_METRIC_KEYS_MAX };
    const { rows, checkpoint } = await db.readTenant(
      orgId,
      async (tx) => {
        const found = await listRelatives(tx, orgId, runId, projectId, limits);
        const artifactId = found[0]?.forked_from_artifact_id ?? null;
        return { rows: found, checkpoint: artifactId === null ? undefined : await findArtifact(tx, orgId, artifactId) };
      },
      { plans: "walks" },
    );
    const [run] = rows;
    if (run === undefined) throw notFound("run");
    const parent = rows.find(({ relation }) => relation === "parent");
    return {
      run: encodeRunSummary(run, staleness),
      ...(parent === undefined ? {} : { parent: encodeRunSummary(parent, staleness) }),
      children: rows.filter(({ relation }) => relation === "child").map((child) => encodeRunSummary(child, staleness)),
      childrenTotal: BigInt(run.children_total),
      limit: CHILDREN_MAX,
      // Callers see nothing of a parent that they may not see.
      ...(checkpoint === undefined || parent === undefined
        ? {}
        : { checkpointArtifact: encodeArtifact(orgId, checkpoint) }),
    };
  };
}

function encodeArtifact(orgId: string, artifact: ArtifactRow): MessageInitShape<typeof ArtifactSchema> {
  const { step, sizeBytes, sha256, metadata, ...facts } = artifact;
  return {
    ...facts,
    orgId,
    step: step ?? undefined,
    sizeBytes: sizeBytes === null ? undefined : BigInt(sizeBytes),
    sha256: sha256 ?? undefined,
    metadataJson: new TextEncoder().encode(metadata),
  };
}

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

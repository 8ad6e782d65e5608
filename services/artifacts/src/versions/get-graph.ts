import { GRAPH_HOPS, GRAPH_NEIGHBORS, GRAPH_NODES_MAX } from "@tidemark/limits";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion, requireAvailable, VERSION } from "./get-version.ts";
import { walkGraph, type GraphNode, type ReadSteps } from "./graph.rules.ts";
import { readProjectNames, readRunLabels, readSteps } from "./graph.sql.ts";
import { readVersions } from "./versions.sql.ts";

/**
 * ArtifactsService.GetLineageGraph: what a version was made from and what was made from it, as far as the caller may see it. Deleted versions are in it
 * as long as their rows are kept. @throws not_found, gone, bad_request
 */
export function getLineageGraph({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["getLineageGraph"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId, projectId } = caller;
    const id = pathId(request.versionId, VERSION);
    return db.readTenant(
      orgId,
      async (tx) => {
        await requireAvailable(tx, caller, id);
        throwFault(request.queryFault);
        const hops = Math.min(request.hops || GRAPH_HOPS.default, GRAPH_HOPS.max);
        const limit = Math.min(request.limit || GRAPH_NEIGHBORS.default, GRAPH_NEIGHBORS.max);
        const read: ReadSteps = (from, ids, direction, most) =>
          readSteps(tx, orgId, from, ids, { direction, projectId, limit: most });
        const { nodes, edges } = await walkGraph(id, read, { hops, neighbors: limit, nodes: GRAPH_NODES_MAX });
        const [versions, runs] = (["version", "run"] as const).map((kind) =>
          nodes.filter((node) => node.kind === kind),
        );
        const rows = await readVersions(tx, orgId, idsOf(versions!));
        const projects = await readProjectNames(tx, orgId, [...new Set(rows.map((row) => row.projectId))]);
        const labels = await readRunLabels(tx, orgId, idsOf(runs!));
        const placeOf = placesOf(nodes);
        return {
          versions: rows.map((row) => ({
            version: encodeVersion(row),
            project: projects.get(row.projectId)!,
            ...placeOf("version", row.id),
          })),
          runs: labels.map(({ id: runId, ...label }) => ({ runId, ...label, ...placeOf("run", runId) })),
          edges,
          hops,
          limit,
        };
      },
      { plans: "walks" },
    );
  };
}

const idsOf = (nodes: readonly GraphNode[]): string[] => nodes.map(({ id }) => id);

/** Returns a function that gives the place of a node. */
function placesOf(nodes: readonly GraphNode[]) {
  const byKey = new Map(nodes.map((node) => [`${node.kind} ${node.id}`, node]));
  return (kind: GraphNode["kind"], id: string): Pick<GraphNode, "hop" | "more"> => {
    const { hop, more } = byKey.get(`${kind} ${id}`)!;
    return { hop, more };
  };
}

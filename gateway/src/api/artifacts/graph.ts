import type { MessageInitShape } from "@bufbuild/protobuf";
import { GRAPH_HOPS, GRAPH_NEIGHBORS } from "@tidemark/limits";
import type { GetLineageGraphRequestSchema, GetLineageGraphResponse } from "@tidemark/proto/artifacts/v1/versions";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { described, object, withFault } from "../fields/field.ts";
import { limit } from "../fields/number.ts";
import { booleanSchema, countSchema, listSchema, objectSchema, requireMessage, textSchema } from "../replies.ts";

/** Query of GET /api/artifact-versions/{version_id}/graph. */
export const lineageGraphQuery = object({
  hops: described(limit(GRAPH_HOPS), "Edges between the version and the farthest nodes on each side."),
  limit: described(limit(GRAPH_NEIGHBORS), "Neighbors of a node, the newest first."),
});

/** GET /api/artifact-versions/{version_id}/graph. Faults of the query travel in the message. */
export function decodeGetLineageGraph({
  params,
  query,
}: RouteInput): MessageInitShape<typeof GetLineageGraphRequestSchema> {
  const { value, fault } = withFault(() => lineageGraphQuery.read(query));
  return { versionId: params["version_id"]!, ...value, queryFault: fault };
}

/** Answer of GET /api/artifact-versions/{version_id}/graph. */
export const lineageGraphSchema: Schema = objectSchema({
  nodes: listSchema(
    objectSchema({
      id: { type: "string", description: "`artifact-version:<id>` or `run:<id>`" },
      kind: { type: "string", enum: ["artifact_version", "run"] },
      label: textSchema,
      summary: {
        type: "object",
        description: "Of a version `project`, `type`, `aliases` and `size_bytes`; of a run `project` and `status`.",
      },
      state: textSchema,
      hop: {
        type: "integer",
        description: "Edges between the node and the version; below 0 for what the version was made from.",
      },
      more: { ...booleanSchema, description: "It has neighbors on its side that are left out." },
    }),
  ),
  edges: listSchema(
    objectSchema({ from: textSchema, to: textSchema, direction: { type: "string", enum: ["input", "output"] } }),
  ),
  truncated: { ...booleanSchema, description: "A node has more neighbors." },
  hops: countSchema,
  limit: countSchema,
});

/** The version first, then the others and the runs. Edges lead from what was used to what was made. */
export function encodeGetLineageGraph({
  versions,
  runs,
  edges,
  hops,
  limit: most,
}: GetLineageGraphResponse): RouteReply {
  const versionNodes = versions.map(({ version: found, project, hop, more }) => {
    const version = requireMessage(found);
    const { type, aliases } = version;
    return {
      id: versionNode(version.id),
      kind: "artifact_version",
      label: `${version.name}:v${version.versionIndex}`,
      summary: { project, type, aliases, size_bytes: Number(version.sizeBytes) },
      state: version.state,
      hop,
      more,
    };
  });
  const runNodes = runs.map(({ runId, name, project, status, hop, more }) => ({
    id: runNode(runId),
    kind: "run",
    label: name,
    summary: { project, status },
    state: status,
    hop,
    more,
  }));
  const nodes = [...versionNodes, ...runNodes];
  const links = edges.map(({ runId, versionId, direction }) => {
    const [run, version] = [runNode(runId), versionNode(versionId)];
    return direction === "output" ? { from: run, to: version, direction } : { from: version, to: run, direction };
  });
  return { body: { nodes, edges: links, truncated: nodes.some(({ more }) => more), hops, limit: most } };
}

const versionNode = (id: string): string => `artifact-version:${id}`;
const runNode = (id: string): string => `run:${id}`;

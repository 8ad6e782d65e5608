/** What a node of a graph is. */
export type NodeKind = "version" | "run";

/** A node of a graph: a version, or a run that made or used one. */
export type GraphNode = {
  readonly kind: NodeKind;
  readonly id: string;
  /** Edges between it and the version that the graph is about; below 0 for what that one was made from. */
  readonly hop: number;
  /** Whether it has neighbors on its side that are left out. */
  more: boolean;
};

/** That a run made (`output`) or used (`input`) a version. */
export type GraphEdge = { readonly runId: string; readonly versionId: string; readonly direction: "input" | "output" };

/** A step from a node to a neighbor. */
export type Step = { readonly from: string; readonly to: string };

/** Reads the neighbors of nodes of a kind over the edges of a direction, at most `limit` of each node, the newest first. */
export type ReadSteps = (
  from: NodeKind,
  ids: readonly string[],
  direction: GraphEdge["direction"],
  limit: number,
) => Promise<readonly Step[]>;

/** The bounds of a graph: edges between the first and the farthest node on each side, neighbors of a node, and nodes. */
export type GraphBounds = { readonly hops: number; readonly neighbors: number; readonly nodes: number };

/** The two ways to walk: to what a thing was made from, and to what was made from it. */
const SIDES = [-1, 1] as const;
type Side = (typeof SIDES)[number];

/** The nodes of a side that were reached last, and the keys of all that were reached. */
type Front = { readonly side: Side; ids: readonly string[]; readonly reached: Set<string> };

/**
 * Walks from a version to what it was made from (its makers, what they used, the makers of that, ...) and to what was made from it (its users, what
 * they made, ...), hop by hop on both sides, so that both have a share of the nodes. Edges between nodes that are there count beyond the last hop.
 */
export async function walkGraph(
  versionId: string,
  read: ReadSteps,
  bounds: GraphBounds,
): Promise<{ readonly nodes: readonly GraphNode[]; readonly edges: GraphEdge[] }> {
  const first: GraphNode = { kind: "version", id: versionId, hop: 0, more: false };
  const nodes = new Map([[keyOf("version", versionId), first]]);
  const edges = new Map<string, GraphEdge>();
  const fronts = SIDES.map((side): Front => ({ side, ids: [versionId], reached: new Set(nodes.keys()) }));
  for (let hop = 1; hop <= bounds.hops + 1; hop += 1) {
    const [from, to]: readonly NodeKind[] = hop % 2 === 1 ? ["version", "run"] : ["run", "version"];
    for (const front of fronts) {
      const direction = front.side < 0 === (from === "version") ? "output" : "input";
      const steps = front.ids.length === 0 ? [] : await read(from!, front.ids, direction, bounds.neighbors + 1);
      const next: string[] = [];
      for (const [id, neighbors] of Map.groupBy(steps, (step) => step.from)) {
        const node = nodes.get(keyOf(from!, id))!;
        node.more ||= neighbors.length > bounds.neighbors;
        for (const step of neighbors.slice(0, bounds.neighbors)) {
          const key = keyOf(to!, step.to);
          if (!nodes.has(key) && (hop > bounds.hops || nodes.size >= bounds.nodes)) {
            node.more = true;
            continue;
          }
          if (!nodes.has(key)) nodes.set(key, { kind: to!, id: step.to, hop: front.side * hop, more: false });
          const edge = edgeOf(from!, step, direction);
          edges.set(`${edge.runId} ${edge.versionId} ${direction}`, edge);
          // A node is on both sides where a run used what it made.
          if (!front.reached.has(key)) next.push(step.to);
          front.reached.add(key);
        }
      }
      front.ids = next;
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

const keyOf = (kind: NodeKind, id: string): string => `${kind} ${id}`;

function edgeOf(from: NodeKind, step: Step, direction: GraphEdge["direction"]): GraphEdge {
  return from === "version"
    ? { versionId: step.from, runId: step.to, direction }
    : { runId: step.from, versionId: step.to, direction };
}

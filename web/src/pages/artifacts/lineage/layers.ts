/** An edge of a graph, from what was used to what was made. */
export type LayoutEdge = { readonly from: string; readonly to: string };

/**
 * Puts the nodes of a graph into layers, so that every edge leads to a higher one. A node without edges into it is as close to what it leads to as can be.
 * An edge that closes a cycle counts in the other direction. Edges lead from and to nodes that are there.
 */
export function layersOf(ids: readonly string[], edges: readonly LayoutEdge[]): ReadonlyMap<string, number> {
  const forward = withoutCycles(ids, edges);
  const into = new Map(ids.map((id) => [id, 0]));
  for (const { to } of forward) into.set(to, into.get(to)! + 1);
  const out = Map.groupBy(forward, ({ from }) => from);
  const layers = new Map(ids.map((id) => [id, 0]));
  // In an order in which every node comes before those that it leads to.
  const order = ids.filter((id) => into.get(id) === 0);
  const sources = new Set(order);
  for (const id of order) {
    for (const { to } of out.get(id) ?? []) {
      layers.set(to, Math.max(layers.get(to)!, layers.get(id)! + 1));
      into.set(to, into.get(to)! - 1);
      if (into.get(to) === 0) order.push(to);
    }
  }
  for (const id of sources) {
    const nearest = Math.min(...(out.get(id) ?? []).map(({ to }) => layers.get(to)!));
    if (Number.isFinite(nearest)) layers.set(id, nearest - 1);
  }
  return layers;
}

/** Turns the edges around that lead back to a node on the way to them; edges from a node to itself are left out. */
function withoutCycles(ids: readonly string[], edges: readonly LayoutEdge[]): readonly LayoutEdge[] {
  const out = Map.groupBy(edges, ({ from }) => from);
  const states = new Map<string, "open" | "done">();
  const forward: LayoutEdge[] = [];
  for (const id of ids) {
    if (states.has(id)) continue;
    // The way to the current node, with the edges of each that are not walked yet: a deep graph must not end the stack.
    const way = [{ id, left: [...(out.get(id) ?? [])] }];
    states.set(id, "open");
    while (way.length > 0) {
      const here = way.at(-1)!;
      const edge = here.left.shift();
      if (edge === undefined) {
        states.set(here.id, "done");
        way.pop();
        continue;
      }
      if (edge.to === edge.from) continue;
      const state = states.get(edge.to);
      forward.push(state === "open" ? { from: edge.to, to: edge.from } : edge);
      if (state !== undefined) continue;
      states.set(edge.to, "open");
      way.push({ id: edge.to, left: [...(out.get(edge.to) ?? [])] });
    }
  }
  return forward;
}

import { layersOf, type LayoutEdge } from "./layers.ts";

/** The size of a node and the distances between nodes, in pixels. */
export const NODE = { width: 190, height: 46, across: 18, between: 72 } as const;

/** The height that a line between distant layers takes where it passes one. */
const LINE = 8;

/** How often the layers are sorted and aligned, in both directions. */
const ROUNDS = 6;

/** Where the nodes of a graph are, by their ids, and the points that the line of each edge passes. */
export type Layout = {
  readonly nodes: ReadonlyMap<string, { readonly x: number; readonly y: number; readonly layer: number }>;
  /** In the order of the edges; the first and the last point are at the sides of nodes. */
  readonly lines: readonly (readonly { readonly x: number; readonly y: number }[])[];
  readonly width: number;
  readonly height: number;
};

/** A node, or the place where a line passes a layer. `y` is its middle. */
type Place = { readonly id: string; readonly layer: number; readonly size: number; y: number };

/**
 * Lays a graph out in layers from left to right: nodes in the order that crosses few lines, close to the middle of their neighbors. Lines that skip
 * layers pass between nodes.
 */
export function layOut(ids: readonly string[], edges: readonly LayoutEdge[]): Layout {
  const layers = layersOf(ids, edges);
  const places = new Map<string, Place>(ids.map((id) => [id, { id, layer: layers.get(id)!, size: NODE.height, y: 0 }]));
  const chains = edges.map((edge, i) => chainOf(edge, i, places));
  const links = chains.flatMap((chain) => chain.slice(1).map((place, i) => [chain[i]!, place] as const));
  const neighbors = {
    before: Map.groupBy(links, ([, to]) => to.id),
    after: Map.groupBy(links, ([from]) => from.id),
  };
  const rows = rowsOf(places);
  const neighborsOf = (place: Place, side: "before" | "after"): readonly Place[] =>
    (neighbors[side].get(place.id) ?? []).map(([from, to]) => (side === "before" ? from : to));
  for (let round = 0; round < ROUNDS; round += 1) {
    const side = round % 2 === 0 ? "before" : "after";
    for (const row of side === "before" ? rows : rows.toReversed()) {
      sortRow(row, (place) => neighborsOf(place, side));
      alignRow(row, (place) => neighborsOf(place, side));
    }
  }
  // What has neighbors on both sides is between them.
  for (const row of rows) alignRow(row, (place) => [...neighborsOf(place, "before"), ...neighborsOf(place, "after")]);
  const top = Math.min(...[...places.values()].map(({ y, size }) => y - size / 2), 0);
  for (const place of places.values()) place.y -= top;
  const leftOf = (layer: number): number => layer * (NODE.width + NODE.between);
  return {
    nodes: new Map(
      ids.map((id) => {
        const { layer, y } = places.get(id)!;
        return [id, { layer, x: leftOf(layer), y: y - NODE.height / 2 }];
      }),
    ),
    lines: chains.map((chain) => pointsOf(chain, leftOf)),
    width: leftOf(rows.length) - (rows.length === 0 ? 0 : NODE.between),
    height: Math.max(0, ...[...places.values()].map(({ y, size }) => y + size / 2)),
  };
}

/** The places that the line of an edge passes, lower layers first; those between its ends are made. */
function chainOf({ from, to }: LayoutEdge, index: number, places: Map<string, Place>): readonly Place[] {
  const [start, end] = [places.get(from)!, places.get(to)!];
  const [low, high] = start.layer <= end.layer ? [start, end] : [end, start];
  const between: Place[] = [];
  for (let layer = low.layer + 1; layer < high.layer; layer += 1) {
    const place = { id: `${index} ${layer}`, layer, size: LINE, y: 0 };
    places.set(place.id, place);
    between.push(place);
  }
  const chain = [low, ...between, high];
  return low === start ? chain : chain.toReversed();
}

/** The places by layer, evenly apart. */
function rowsOf(places: ReadonlyMap<string, Place>): Place[][] {
  const rows: Place[][] = [];
  for (const place of places.values()) (rows[place.layer] ??= []).push(place);
  for (let layer = 0; layer < rows.length; layer += 1) alignRow((rows[layer] ??= []), () => []);
  return rows;
}

const meanOf = (places: readonly Place[]): number => places.reduce((sum, { y }) => sum + y, 0) / places.length;

/** Sorts a row by the middle of what each place is linked to; a place without links stays between its neighbors. */
function sortRow(row: Place[], linkedTo: (place: Place) => readonly Place[]): void {
  const wanted = new Map(row.map((place) => [place, linkedTo(place).length === 0 ? place.y : meanOf(linkedTo(place))]));
  row.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
}

/**
 * Moves the places of a row as close as they can be to the middle of what each is linked to (least squares), in their order and without overlaps: places
 * that want the same space form a group that takes the mean of their wishes.
 */
function alignRow(row: readonly Place[], linkedTo: (place: Place) => readonly Place[]): void {
  const groups: { sum: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [i, place] of row.entries()) {
    if (i > 0) offset += (row[i - 1]!.size + place.size) / 2 + NODE.across;
    offsets.push(offset);
    const linked = linkedTo(place);
    let group = { sum: (linked.length === 0 ? place.y : meanOf(linked)) - offset, count: 1 };
    let before = groups.at(-1);
    while (before !== undefined && before.sum / before.count >= group.sum / group.count) {
      group = { sum: before.sum + group.sum, count: before.count + group.count };
      groups.pop();
      before = groups.at(-1);
    }
    groups.push(group);
  }
  let i = 0;
  for (const { sum, count } of groups) {
    for (let n = 0; n < count; n += 1, i += 1) row[i]!.y = sum / count + offsets[i]!;
  }
}

/** The points of a line: the facing sides of its nodes, and both sides of the layers that it passes. */
function pointsOf(
  chain: readonly Place[],
  leftOf: (layer: number) => number,
): readonly { readonly x: number; readonly y: number }[] {
  const isForward = chain[0]!.layer <= chain.at(-1)!.layer;
  return chain.flatMap(({ layer, y }, i) => {
    const [left, right] = [leftOf(layer), leftOf(layer) + NODE.width];
    const [near, far] = isForward ? [left, right] : [right, left];
    if (i === 0) return [{ x: far, y }];
    return i === chain.length - 1
      ? [{ x: near, y }]
      : [
          { x: near, y },
          { x: far, y },
        ];
  });
}

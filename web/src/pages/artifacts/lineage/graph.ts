import { versionAddress } from "../../../artifacts/artifact-addresses.ts";
import { runAddress } from "../../../app/addresses.ts";
import { counted } from "../../../ui/words.ts";

/** A node of the graph around a version. */
export type GraphNode = {
  /** `artifact-version:<id>` or `run:<id>`. */
  readonly id: string;
  readonly kind: "artifact_version" | "run";
  readonly label: string;
  readonly state: string;
  readonly summary: {
    readonly project: string;
    readonly type?: string;
    readonly aliases?: readonly string[];
  };
  /** Edges between it and the version; below 0 for what the version was made from. */
  readonly hop: number;
  /** It has neighbors that are left out. */
  readonly more: boolean;
};

/** That a run made or used a version, from what was used to what was made. */
export type GraphEdge = { readonly from: string; readonly to: string; readonly direction: "input" | "output" };

/** What a version was made from, and what was made from it. */
export type Graph = {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly truncated: boolean;
  readonly hops: number;
  readonly limit: number;
};

const idOf = (node: GraphNode): string => node.id.slice(node.id.indexOf(":") + 1);

/**
 * Returns the address that a node leads to; undefined for a version that is not available any more. `hrefOf` gives that of a version of the project
 * whose page is shown.
 */
export function nodeAddress(
  node: GraphNode,
  project: string,
  hrefOf: (versionId: string) => string,
): string | undefined {
  const { project: own } = node.summary;
  if (node.kind === "run") return runAddress(own, idOf(node), "lineage");
  if (node.state !== "active") return undefined;
  return own === project ? hrefOf(idOf(node)) : versionAddress(own, idOf(node), "lineage");
}

/** Returns how much a graph has. */
export function sizeWords({ nodes }: Pick<Graph, "nodes">): string {
  const runs = nodes.filter(({ kind }) => kind === "run").length;
  return `${counted(nodes.length - runs, "version")} and ${counted(runs, "run")}`;
}

/** Returns what stands below the name of a node: the type and the aliases of a version, the project of a run. */
export const detailWords = ({ kind, summary }: GraphNode): string =>
  kind === "run" ? summary.project : [summary.type, ...(summary.aliases ?? [])].join(", ");

/** Returns a node with its neighbors in words, for people who do not see the picture. */
export function nodeWords(node: GraphNode, graph: Pick<Graph, "nodes" | "edges">): string {
  const state = node.kind === "run" ? `, ${node.state}` : node.state === "active" ? "" : ", deleted";
  const kind = node.kind === "run" ? "Run" : "Version";
  return `${kind} ${node.label} (${detailWords(node)}${state}). ${neighborWords(node, graph)}`;
}

/** Names that a sentence lists; the others are counted. */
const NAMED_MAX = 5;

/** Returns the neighbors of a node in words: `Made by train. Used by eval and test.`, or of a run `Used data:v0. Made model:v1.` */
export function neighborWords(node: GraphNode, { nodes, edges }: Pick<Graph, "nodes" | "edges">): string {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const before = edges.filter(({ to }) => to === node.id).map(({ from }) => labels.get(from)!);
  const after = edges.filter(({ from }) => from === node.id).map(({ to }) => labels.get(to)!);
  const [beforeVerb, afterVerb] = node.kind === "run" ? ["Used", "Made"] : ["Made by", "Used by"];
  return [
    ...(before.length === 0 ? [] : [`${beforeVerb} ${listWords(before)}.`]),
    ...(after.length === 0 ? [] : [`${afterVerb} ${listWords(after)}.`]),
    ...(node.more ? ["There are more."] : []),
  ].join(" ");
}

function listWords(names: readonly string[]): string {
  const named = names.slice(0, NAMED_MAX);
  const rest = names.length - named.length;
  const all = rest === 0 ? named : [...named, counted(rest, "other")];
  return all.length === 1 ? all[0]! : `${all.slice(0, -1).join(", ")} and ${all.at(-1)!}`;
}

/** Returns the path of a line through points, with curves between different heights, for the `d` of an SVG path. */
export function linePath(points: readonly { readonly x: number; readonly y: number }[]): string {
  const of = (...numbers: readonly number[]): string => numbers.map((number) => Number(number.toFixed(1))).join(" ");
  return points
    .map((point, i) => {
      const before = points[i - 1];
      if (before === undefined) return `M${of(point.x, point.y)}`;
      const middle = (before.x + point.x) / 2;
      return before.y === point.y
        ? `L${of(point.x, point.y)}`
        : `C${of(middle, before.y, middle, point.y, point.x, point.y)}`;
    })
    .join("");
}

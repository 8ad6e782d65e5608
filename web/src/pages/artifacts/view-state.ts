import { COLLECTION_TYPES, GRAPH_HOPS } from "@tidemark/limits";
import { VERSION_TABS, type VersionTab } from "../../artifacts/artifact-addresses.ts";

/** What the page of a project's artifacts shows. */
export type ArtifactsView = {
  /** The id of the chosen collection, and of the chosen version, of which the collection follows. */
  readonly collection: string | undefined;
  readonly version: string | undefined;
  readonly tab: VersionTab;
  /** A part of the names of the listed collections, and their type; empty: all. */
  readonly q: string;
  readonly type: string;
  /** How far the graph of the version goes. */
  readonly hops: number;
};

/** Reads the state of the page from its address; what it does not know is as if it was not there. */
export function readView(query: URLSearchParams): ArtifactsView {
  const textOf = (name: string): string | undefined => query.get(name) || undefined;
  const hops = Number(query.get("hops"));
  return {
    collection: textOf("collection"),
    version: textOf("version"),
    tab: VERSION_TABS.find((tab) => tab === query.get("tab")) ?? "overview",
    q: query.get("q") ?? "",
    type: COLLECTION_TYPES.find((type) => type === query.get("type")) ?? "",
    hops: Number.isInteger(hops) && hops >= 1 && hops <= GRAPH_HOPS.max ? hops : GRAPH_HOPS.default,
  };
}

/** Returns the path of the list of the collections that are shown. */
export function collectionsPath(projectId: string, { q, type }: Pick<ArtifactsView, "q" | "type">): string {
  const query = new URLSearchParams({ project_id: projectId });
  if (type !== "") query.set("type", type);
  if (q.trim() !== "") query.set("q", q.trim());
  return `/api/artifact-collections?${query.toString()}`;
}

import type { Read, Tenant } from "./read.ts";

const resolve = (what: string, refOf: (name: string) => string): Read => ({
  name: `a version by ${what}`,
  path: ({ artifacts }) => `/api/artifact-versions/resolve?ref=${encodeURIComponent(refOf(artifacts.name))}`,
  items: () => 1,
});
const versionPath = ({ artifacts }: Tenant): string => `/api/artifact-versions/${artifacts.versionId}`;

/** Artifacts, versions, manifests, lineages and collections. */
export const artifactReads: readonly Read[] = [
  {
    name: "artifacts of a run",
    path: ({ artifacts }) => `/api/runs/${artifacts.runId}/artifacts?limit=1000`,
    items: (json) => json["artifacts"]!.length,
    each: 2,
  },
  resolve("its newest number", (name) => name),
  resolve("an alias", (name) => `${name}:best`),
  resolve("an index, with type", (name) => `model/${name}:v7`),
  { name: "a version", path: versionPath, items: () => 1 },
  // They are counted as well.
  {
    name: "the first entries of a manifest",
    path: (tenant) => `${versionPath(tenant)}/manifest?limit=50`,
    items: () => 1000,
    each: 2,
  },
  {
    name: "a whole manifest",
    path: (tenant) => `${versionPath(tenant)}/manifest?limit=1000`,
    items: (json) => json["entries"]!.length,
    each: 3,
  },
  { name: "the lineage of a version", path: (tenant) => `${versionPath(tenant)}/lineage`, items: () => 1 },
  {
    name: "the graph of a version",
    path: (tenant) => `${versionPath(tenant)}/graph`,
    items: (json) => json["nodes"]!.length,
  },
  {
    name: "versions of a run",
    path: ({ artifacts }) => `/api/runs/${artifacts.runId}/artifact-versions`,
    items: (json) => json["artifact_versions"]!.length,
  },
  {
    name: "versions of a collection",
    path: ({ artifacts }) => `/api/artifact-collections/${artifacts.versionId}/versions`,
    items: (json) => json["versions"]!.length,
  },
  {
    name: "collections",
    path: () => "/api/artifact-collections?limit=50",
    items: (json) => json["collections"]!.length,
  },
];

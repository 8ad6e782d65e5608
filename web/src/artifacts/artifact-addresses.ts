import { projectPageAddress } from "../app/addresses.ts";

/** The tabs of a version. */
export const VERSION_TABS = ["overview", "files", "lineage"] as const;

/** A tab of a version. */
export type VersionTab = (typeof VERSION_TABS)[number];

/** Returns the address of a collection of a project. */
export const collectionAddress = (project: string, collectionId: string): string =>
  `${projectPageAddress(project, "artifacts")}?collection=${encodeURIComponent(collectionId)}`;

/** Returns the address of a version of a project. */
export function versionAddress(project: string, versionId: string, tab: VersionTab = "overview"): string {
  const address = `${projectPageAddress(project, "artifacts")}?version=${encodeURIComponent(versionId)}`;
  return tab === "overview" ? address : `${address}&tab=${tab}`;
}

import { currentLocation } from "../../app/location.tsx";

/** Returns the address of the page with other values in its query; undefined removes one. The list on the left stays as it is. */
export function pageHref(changes: Readonly<Record<string, string | undefined>>): string {
  const { path, query } = currentLocation.value;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Returns the address of a collection, with its versions. */
export const collectionHref = (collectionId: string): string =>
  pageHref({ collection: collectionId, version: undefined, tab: undefined, hops: undefined });

/** Returns the address of the graph of a version, whose collection the page finds. */
export const graphHref = (versionId: string): string =>
  pageHref({ collection: undefined, version: versionId, tab: "lineage" });

/** Returns the address of a version, in the tab that is open. */
export const versionHref = (collectionId: string, versionId: string): string =>
  pageHref({ collection: collectionId, version: versionId });

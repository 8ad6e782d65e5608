import { call } from "../../../api/client.ts";

/** What the API keeps as the reason where a person gives none; it requires one. */
const NO_REASON = "Changed in the dashboard";

const pathOf = (collectionId: string, alias: string): string =>
  `/api/artifact-collections/${encodeURIComponent(collectionId)}/aliases/${encodeURIComponent(alias)}`;

/** Points an alias of a collection at a version; it leaves the one that had it. @throws ApiError */
export async function setAlias(collectionId: string, alias: string, versionId: string, reason = ""): Promise<void> {
  const body = { artifact_version_id: versionId, confirm: alias, reason: reason.trim() || NO_REASON };
  await call(pathOf(collectionId, alias), { method: "PUT", body });
}

/** Removes an alias of a collection. @throws ApiError */
export async function removeAlias(collectionId: string, alias: string): Promise<void> {
  await call(pathOf(collectionId, alias), { method: "DELETE", body: { confirm: alias, reason: NO_REASON } });
}

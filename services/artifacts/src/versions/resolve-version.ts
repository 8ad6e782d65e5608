import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { type Caller, callerOf } from "@tidemark/requests";
import { findCollectionsByName, findProjectByName } from "../collections/collections.sql.ts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion, VERSION } from "./get-version.ts";
import { readRef } from "./version-ref.rules.ts";
import { readVersions, selectVersion, type VersionRow } from "./versions.sql.ts";

/** ArtifactsService.ResolveVersion. @throws bad_request, not_found */
export function resolveVersion({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["resolveVersion"] {
  return async ({ ref, type, project }, call) => {
    const caller = callerOf(call);
    const version = await db.readTenant(
      caller.orgId,
      (tx) => resolveRef(tx, caller, ref, { type, project: { name: project } }),
      { plans: "walks" },
    );
    return { version: encodeVersion(version) };
  };
}

/** The defaults where a reference names no type or no project; empty texts: any. */
type RefDefaults = { readonly type: string; readonly project: { readonly name: string } | { readonly id: string } };

/**
 * Returns the available version that a reference names, among the collections that the caller may see.
 * @throws bad_request for a reference that is malformed or fits several collections, not_found
 */
export async function resolveRef(tx: Tx, caller: Caller, text: string, defaults: RefDefaults): Promise<VersionRow> {
  const { orgId } = caller;
  const ref = readRef(text);
  const project = ref.project === undefined ? defaults.project : { name: ref.project };
  const projectId = await visibleProject(tx, caller, project);
  const found = await findCollectionsByName(tx, orgId, { name: ref.name, type: ref.type ?? defaults.type, projectId });
  if (found.length > 1) throw badRequest("ref fits several collections; name the project and the type", "ref");
  const versionId = found[0] && (await selectVersion(tx, orgId, found[0], ref.selector));
  const [version] = versionId === undefined ? [] : await readVersions(tx, orgId, [versionId]);
  if (!version?.available) throw notFound(VERSION);
  return version;
}

/** Returns the project to look in; undefined: all of them. @throws not_found for one that does not exist or that the caller may not see */
async function visibleProject(
  tx: Tx,
  { orgId, projectId }: Caller,
  wanted: RefDefaults["project"],
): Promise<string | undefined> {
  const named = "id" in wanted || wanted.name !== "";
  if (!named) return projectId;
  const id = "id" in wanted ? wanted.id : await findProjectByName(tx, orgId, wanted.name);
  if (id === undefined || (projectId !== undefined && id !== projectId)) throw notFound(VERSION);
  return id;
}

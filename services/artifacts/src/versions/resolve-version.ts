import { badRequest, notFound, gone } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { type Caller, callerOf, isUuid, pathId, throwFault } from "@tidemark/requests";
import { findCollectionsByName, findProjectByName } from "../collections/collections.sql.ts";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { encodeVersion, VERSION, requireAvailable, requireStoredVersion } from "./get-version.ts";
import { readRef } from "./version-ref.rules.ts";
import { readVersions, selectVersion, type VersionRow } from "./versions.sql.ts";
import { addEdge } from "./edges.sql.ts";
import { lockAvailable } from "./retention.sql.ts";

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
async function resolveRef(tx: Tx, caller: Caller, text: string, defaults: RefDefaults): Promise<VersionRow> {
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

type Request = Parameters<ArtifactsHandlers["addInput"]>[0];

/**
 * ArtifactsService.AddInput: records once that a run uses a version. A reference without a project means the run's project.
 * @throws not_found, bad_request, gone for the id of a version that is not available
 */
export function addInput(deps: Pick<ArtifactsDeps, "db" | "runs" | "newId">): ArtifactsHandlers["addInput"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    return deps.db.withTenant(
      orgId,
      async (tx) => {
        const { id: versionId } = await findWanted(tx, caller, projectId, request);
        // A transaction that deletes it either waits for this one or is visible to it.
        if (!(await lockAvailable(tx, orgId, versionId))) throw gone(VERSION);
        const edge = await addEdge(tx, orgId, { id: deps.newId(), runId, projectId, versionId, direction: "input" });
        return { edge, version: encodeVersion(await requireStoredVersion(tx, orgId, versionId)) };
      },
      { plans: "walks" },
    );
  };
}

function findWanted(tx: Tx, caller: Caller, projectId: string, request: Request): Promise<VersionRow> {
  const { versionId, ref, type } = request;
  if ((versionId === undefined) === (ref === undefined)) {
    throw badRequest("one of artifact_version_id and ref is required");
  }
  if (ref !== undefined) return resolveRef(tx, caller, ref, { type, project: { id: projectId } });
  const id = versionId!.toLowerCase();
  if (!isUuid(id)) throw badRequest("artifact_version_id must be a UUID", "artifact_version_id");
  return requireAvailable(tx, caller, id);
}

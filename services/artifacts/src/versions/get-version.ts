import { type Caller, callerOf, canSee, pathId, throwFault, readPage } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { LINEAGE_RUNS, VERSIONS_PAGE_ROWS } from "@tidemark/limits";
import { listRunsOfVersion, listVersionsOfRun } from "./edges.sql.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ArtifactVersionSchema, ArtifactEntrySchema } from "@tidemark/proto/artifacts/v1/versions";
import {
  readVersions,
  type VersionRow,
  countEntries,
  type EntryRow,
  findEntry,
  listEntryRows,
} from "./versions.sql.ts";
import { gone, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";

/** ArtifactsService.GetVersion. @throws not_found, gone */
export function getVersion({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["getVersion"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    const version = await db.readTenant(caller.orgId, (tx) => requireAvailable(tx, caller, id), { plans: "walks" });
    return { version: encodeVersion(version) };
  };
}

/** ArtifactsService.GetVersionLineage: the version and those runs around it that the caller may see. @throws not_found, gone, bad_request */
export function getVersionLineage({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["getVersionLineage"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const version = await requireAvailable(tx, caller, id);
        throwFault(request.queryFault);
        const limit = Math.min(request.limit || LINEAGE_RUNS.max, LINEAGE_RUNS.max);
        const runs = await listRunsOfVersion(tx, caller.orgId, id, caller.projectId, limit + 1);
        return {
          version: encodeVersion(version),
          runs: runs.slice(0, limit),
          truncated: runs.length > limit,
          limit,
        };
      },
      { plans: "walks" },
    );
  };
}

/** ArtifactsService.ListVersionsOfRun: those that the caller may see, in any state. @throws not_found, bad_request */
export function listVersionsOfRunHandler(
  deps: Pick<ArtifactsDeps, "db" | "runs">,
): ArtifactsHandlers["listVersionsOfRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { limit, offset } = readPage(request.page, VERSIONS_PAGE_ROWS);
    return deps.db.readTenant(
      caller.orgId,
      async (tx) => {
        const found = await listVersionsOfRun(tx, caller.orgId, runId, caller.projectId, { limit, offset });
        const ids = found.rows.map(({ versionId }) => versionId);
        const versions = new Map((await readVersions(tx, caller.orgId, ids)).map((row) => [row.id, row]));
        return {
          versions: found.rows.flatMap(({ versionId, direction }) => {
            const row = versions.get(versionId);
            return row === undefined ? [] : [{ version: encodeVersion(row), direction }];
          }),
          total: BigInt(found.total),
          page: { limit, offset: BigInt(offset) },
        };
      },
      { plans: "walks" },
    );
  };
}

const NO_METADATA = new TextEncoder().encode("{}");

/** Encodes a version. It has no metadata of its own: what clients send belongs to the collection. */
export function encodeVersion(row: VersionRow): MessageInitShape<typeof ArtifactVersionSchema> {
  return {
    id: row.id,
    orgId: row.orgId,
    projectId: row.projectId,
    collectionId: row.collectionId,
    name: row.name,
    type: row.type,
    versionIndex: row.versionIndex,
    aliases: [...row.aliases, ...(row.latest ? ["latest"] : [])].toSorted(),
    digest: `sha256:${row.digest}`,
    sourceRunId: row.sourceRunId,
    sourceStep: row.sourceStep ?? undefined,
    fileCount: row.fileCount,
    sizeBytes: BigInt(row.sizeBytes),
    state: row.state,
    metadataJson: NO_METADATA,
    ttlDays: row.ttlDays ?? undefined,
    retentionMode: row.retentionMode,
    expiresAt: row.expiresAt ?? undefined,
    deleteRequestedAt: row.deleteRequestedAt ?? undefined,
    deletedAt: row.deletedAt ?? undefined,
    auditReason: row.auditReason ?? undefined,
    createdAt: row.createdAt,
  };
}

/** The name of a version in errors. */
export const VERSION = "artifact version";

/** Returns a version that the caller may see, in any state. @throws not_found of `what` */
export async function requireVersion(
  tx: Tx,
  caller: Caller,
  versionId: string,
  what: string = VERSION,
): Promise<VersionRow> {
  const [version] = await readVersions(tx, caller.orgId, [versionId]);
  if (version === undefined || !canSee(caller, version)) throw notFound(what);
  return version;
}

/** Returns a version that the caller may see and use. @throws not_found, gone, both of `what` */
export async function requireAvailable(
  tx: Tx,
  caller: Caller,
  versionId: string,
  what: string = VERSION,
): Promise<VersionRow> {
  const version = await requireVersion(tx, caller, versionId, what);
  if (!version.available) throw gone(what);
  return version;
}

/** Returns a version that is known to exist. */
export async function requireStoredVersion(tx: Tx, orgId: string, versionId: string): Promise<VersionRow> {
  const [version] = await readVersions(tx, orgId, [versionId]);
  if (version === undefined) throw new Error("a version that was written is missing");
  return version;
}

/** ArtifactsService.ListEntries. @throws not_found, gone, bad_request */
export function listEntries(deps: Pick<ArtifactsDeps, "db" | "storageBackend">): ArtifactsHandlers["listEntries"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.versionId, VERSION);
    return deps.db.readTenant(
      caller.orgId,
      async (tx) => {
        const version = await requireAvailable(tx, caller, id);
        throwFault(request.queryFault);
        const { limit, offset } = readPage(request.page, VERSIONS_PAGE_ROWS);
        const { pathPrefix: prefix } = request;
        const rows = await listEntryRows(tx, caller.orgId, id, { prefix, limit, offset });
        const total = await countEntries(tx, caller.orgId, id, prefix);
        return {
          entries: rows.map((row) => encodeEntry(row, version.createdAt, deps.storageBackend)),
          total: BigInt(total),
          page: { limit, offset: BigInt(offset) },
        };
      },
      { plans: "walks" },
    );
  };
}

/** Encodes an entry of a version that was made at `createdAt`. */
export function encodeEntry(
  row: EntryRow,
  createdAt: string,
  kept: ArtifactsDeps["storageBackend"],
): MessageInitShape<typeof ArtifactEntrySchema> {
  const { objectId, sizeBytes, sha256, referenceUri, ...same } = row;
  return {
    ...same,
    sizeBytes: sizeBytes === null ? undefined : BigInt(sizeBytes),
    sha256: sha256 ?? undefined,
    referenceUri: referenceUri ?? undefined,
    storageBackend: referenceUri === null ? kept : "external",
    downloadable: objectId !== null,
    createdAt,
  };
}

const ENTRY = "artifact entry";

/** ArtifactsService.LocateEntry. @throws not_found, also for a reference; gone when the version is not available */
export function locateEntry({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["locateEntry"] {
  return (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.entryId, ENTRY);
    return db.readTenant(
      caller.orgId,
      async (tx) => {
        const entry = await findEntry(tx, caller.orgId, id);
        if (entry === undefined || entry.referenceUri !== null) throw notFound(ENTRY);
        await requireAvailable(tx, caller, entry.versionId, ENTRY);
        const { objectId, sizeBytes, mimeType, path } = entry;
        if (objectId === null) throw notFound(ENTRY);
        return { objectId, sizeBytes: BigInt(sizeBytes!), mimeType, name: path };
      },
      { plans: "walks" },
    );
  };
}

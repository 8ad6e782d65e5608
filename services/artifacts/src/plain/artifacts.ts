import { badRequest, notFound } from "@tidemark/errors";
import { ARTIFACTS_ROWS, PAGE_BYTES_MAX, RUNS_PAGE_ROWS } from "@tidemark/limits";
import { callerOf, canSee, isUuid, pathId, throwFault, exportedRuns } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import {
  type ArtifactPlace,
  type ArtifactRow,
  countArtifacts as countArtifactsOfRun,
  countArtifactsOf,
  findArtifact,
  readArtifacts,
  weighArtifactsFrom,
  takeArtifact,
} from "./artifacts.sql.ts";
import { isInstant, readCursor, writeCursor } from "@tidemark/values";
import { type Db, type Tx, streamPages } from "@tidemark/pg";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ArtifactSchema } from "@tidemark/proto/artifacts/v1/artifacts";
import { releaseObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { unknownSizesOf } from "./artifact-input.rules.ts";
import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import type { Handlers } from "@tidemark/rpc";
import { readArtifactsOfRun } from "./archived-artifacts.sql.ts";

/** The name of a plain artifact in errors. */
const ARTIFACT = "artifact";

/** ArtifactsService.ListArtifacts: a page of the artifacts of a run, newest first. @throws not_found, bad_request */
export function listArtifacts(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["listArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const limit = Math.min(request.limit || ARTIFACTS_ROWS.default, ARTIFACTS_ROWS.max);
    return readArtifactPage(deps.db, { orgId, runId, cursor: request.cursor, limit, bytesMax: PAGE_BYTES_MAX });
  };
}

/** ArtifactsService.LocateArtifact. @throws not_found, also when the bytes are elsewhere */
export function locateArtifact({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["locateArtifact"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.artifactId, ARTIFACT);
    const row = await db.readTenant(caller.orgId, (tx) => findArtifact(tx, caller.orgId, id));
    if (row === undefined || !canSee(caller, row) || row.objectId === null) throw notFound(ARTIFACT);
    return { objectId: row.objectId, sizeBytes: BigInt(row.sizeBytes!), mimeType: row.mimeType, name: row.name };
  };
}

/** A page of the artifacts of a run that the caller may see; `cursor` is empty for the first one. */
type ArtifactPage = {
  readonly orgId: string;
  readonly runId: string;
  readonly cursor: string;
  readonly limit: number;
  /** A page ends after this many bytes of client-chosen texts; it has at least one artifact. */
  readonly bytesMax: number;
};

/** Reads a page of artifacts, newest first; `nextCursor` is empty on the last one. @throws bad_request for a cursor of another list */
function readArtifactPage(db: Db, { orgId, runId, cursor, limit, bytesMax }: ArtifactPage) {
  const after = readPlace(cursor);
  return db.readTenant(
    orgId,
    async (tx) => {
      const weighed = await weighArtifactsFrom(tx, orgId, runId, after, limit + 1);
      const page = weighed.slice(0, countFitting(weighed.slice(0, limit), bytesMax));
      const last = page.at(-1);
      const rows = await readArtifacts(
        tx,
        orgId,
        page.map(({ id }) => id),
      );
      const isLast = last === undefined || page.length === weighed.length;
      return { artifacts: rows.map(encodeArtifact), nextCursor: isLast ? "" : writeCursor([last.createdAt, last.id]) };
    },
    { plans: "walks" },
  );
}

const FIRST: ArtifactPlace = { createdAt: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

function readPlace(cursor: string): ArtifactPlace {
  if (cursor === "") return FIRST;
  const [createdAt, id] = readCursor(cursor, 2) ?? [];
  if (isInstant(createdAt) && typeof id === "string" && isUuid(id)) return { createdAt, id };
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

/** Returns how many of the rows fit in a page, at least one. */
function countFitting(rows: readonly { readonly bytes: number }[], bytesMax: number): number {
  let sum = 0;
  const beyond = rows.findIndex(({ bytes }) => (sum += bytes) > bytesMax);
  return beyond === -1 ? rows.length : Math.max(beyond, 1);
}

/** ArtifactsService.CountArtifacts. @throws not_found, bad_request */
export function countArtifacts(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["countArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runIds = request.runIds.map((runId) => pathId(runId, "run"));
    if (runIds.length > RUNS_PAGE_ROWS.max)
      throw badRequest(`at most ${RUNS_PAGE_ROWS.max} runs are counted in one call`);
    await deps.runs.require(caller, runIds);
    return { counts: await deps.db.readTenant(caller.orgId, (tx) => countArtifactsOf(tx, caller.orgId, runIds)) };
  };
}

const utf8 = new TextEncoder();

/** Encodes an artifact. */
export function encodeArtifact(row: ArtifactRow): MessageInitShape<typeof ArtifactSchema> {
  return {
    id: row.id,
    orgId: row.orgId,
    runId: row.runId,
    type: row.type,
    name: row.name,
    uri: row.uri,
    step: row.step ?? undefined,
    sizeBytes: row.sizeBytes === null ? undefined : BigInt(row.sizeBytes),
    sha256: row.sha256 ?? undefined,
    mimeType: row.mimeType,
    storageBackend: row.storageBackend,
    metadataJson: utf8.encode(row.metadata),
    createdAt: row.createdAt,
  };
}

/** ArtifactsService.DeleteArtifact: its bytes count as pending until the store has removed them. @throws not_found, also for a repeat */
export function deleteArtifact({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["deleteArtifact"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const id = pathId(request.artifactId, ARTIFACT);
    const row = await db.withTenant(orgId, async (tx) => {
      const taken = await takeArtifact(tx, orgId, id, projectId);
      if (taken === undefined) throw notFound(ARTIFACT);
      await forgetArtifact(tx, taken);
      return taken;
    });
    return { artifact: encodeArtifact(row) };
  };
}

/** Updates objects and counters for an artifact that the transaction has deleted. */
export function forgetArtifact(tx: Tx, artifact: ArtifactRow): Promise<void> {
  return forgetArtifacts(tx, artifact.orgId, artifact.runId, [artifact]);
}

/** Updates objects and counters for artifacts of a run that the transaction has deleted. */
export async function forgetArtifacts(
  tx: Tx,
  orgId: string,
  runId: string,
  artifacts: readonly ArtifactRow[],
): Promise<void> {
  if (artifacts.length === 0) return;
  const kept = artifacts.flatMap(({ objectId, sizeBytes }) =>
    objectId === null ? [] : [{ objectId, owedBytes: sizeBytes! }],
  );
  const bytes = kept.reduce((sum, { owedBytes }) => sum + owedBytes, 0);
  const settled = await releaseObjects(tx, orgId, kept);
  await countArtifactsOfRun(
    tx,
    orgId,
    runId,
    artifacts.map(({ type }) => type),
    -1,
  );
  await addStorage(tx, orgId, {
    artifacts: -artifacts.length,
    unknownSizes: -unknownSizesOf(artifacts),
    artifactBytes: -bytes,
    pendingDeleteBytes: bytes - settled,
  });
}

/** ArtifactsArchiveService.ExportArtifacts. @throws bad_request, not_found */
export function exportArtifactsHandler({
  db,
  runs,
}: Pick<ArtifactsDeps, "db" | "runs">): Handlers<(typeof ArtifactsArchiveService)["method"]>["exportArtifacts"] {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(runs, request.runIds, call);
    const order = request.byPage ? "newest" : "oldest";
    yield* streamPages(db, orgId, request.byPage, async function* (read) {
      for (const runId of runIds) {
        for await (const rows of readArtifactsOfRun(read, orgId, runId, order))
          yield { artifacts: rows.map(encodeArtifact) };
      }
    });
  };
}
